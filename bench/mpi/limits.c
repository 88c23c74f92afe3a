#include "limits.h"

#include <string.h>

#include "clock.h"

enum { TURNS = 5, STEP = 16384 };

// Ranks take different numbers of turns here, so the values do not come from the common b->turn.
static void refresh(struct bench* b, const struct point* fresh, int turn) {
  work_write(&b->work, &b->team, fresh, turn + 1);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void wait_for(const struct team* team, int rank, long long value) {
  int steps = 0;
  while (atomic_load_explicit(&team->area->rank[rank].flag, memory_order_acquire) < value)
    team_wait_step(team, &steps);
}

// Rank 0 copies in, rank 1 out; a slot is written again only when rank 1 has read it.
static void pipe_in(struct bench* b, size_t bytes, long long base) {
  struct area* area = b->team.area;
  long long chunk = 0;
  for (size_t at = 0; at < bytes; at += STEP, ++chunk) {
    if (chunk >= PIPE_SLOTS) wait_for(&b->team, 1, base + chunk - PIPE_SLOTS + 1);
    memcpy(area->pipe[chunk % PIPE_SLOTS], (char*)b->work.send + at, smaller(STEP, bytes - at));
    atomic_store_explicit(&area->rank[0].flag, base + chunk + 1, memory_order_release);
  }
}

static void pipe_out(struct bench* b, size_t bytes, long long base) {
  struct area* area = b->team.area;
  long long chunk = 0;
  for (size_t at = 0; at < bytes; at += STEP, ++chunk) {
    wait_for(&b->team, 0, base + chunk + 1);
    memcpy((char*)b->work.receive + at, area->pipe[chunk % PIPE_SLOTS], smaller(STEP, bytes - at));
    atomic_store_explicit(&area->rank[1].flag, base + chunk + 1, memory_order_release);
  }
}

static double median_of_turns(struct bench* b, int rank) {
  int64_t* ticks = b->team.area->rank[rank].ticks;
  for (int i = 0; i < TURNS; ++i)
    for (int k = i + 1; k < TURNS; ++k)
      if (ticks[k] < ticks[i]) {
        const int64_t t = ticks[i];
        ticks[i] = ticks[k];
        ticks[k] = t;
      }
  return team_ns(&b->team, ticks[TURNS / 2]) / 1000;
}

static double pipe_us(struct bench* b, const struct point* fresh, size_t bytes) {
  struct team* team = &b->team;
  for (int i = 0; i < TURNS; ++i) {
    const long long base = atomic_load_explicit(&team->area->rank[0].flag, memory_order_relaxed);
    refresh(b, fresh, i);
    const int64_t start = team_start(team);
    if (team->rank == 0) pipe_in(b, bytes, base);
    if (team->rank == 1) pipe_out(b, bytes, base);
    team->area->rank[team->rank].ticks[i] = clock_ticks() - start;
    team_start(team);
  }
  const double us = team->rank == 1 ? median_of_turns(b, 1) : 0;
  if (team->rank == 1) team->area->agreed[3] = (int64_t)(us * 1000);
  team_start(team);
  return (double)team->area->agreed[3] / 1000;
}

static double memcpy_us(struct bench* b, const struct point* fresh, size_t bytes) {
  for (int i = 0; i < TURNS; ++i) {
    refresh(b, fresh, i);
    const int64_t start = clock_ticks();
    memcpy(b->work.receive, b->work.send, bytes);
    b->team.area->rank[0].ticks[i] = clock_ticks() - start;
  }
  return median_of_turns(b, 0);
}

struct limits limits_measure(struct bench* b, size_t bytes) {
  const struct point fresh = {BCAST, bytes, 0};
  struct limits found = {0, 0};
  team_wait_asleep(&b->team);
  if (!b->team.rank) found.memcpy_us = memcpy_us(b, &fresh, bytes);
  team_wait_asleep(&b->team);
  if (b->team.size > 1) found.pipe_us = pipe_us(b, &fresh, bytes);
  return found;
}
