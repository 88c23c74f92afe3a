#define _GNU_SOURCE
#include "limits.h"

#include <sched.h>
#include <string.h>

#include "clock.h"

enum { TURNS = 3 };

static const size_t chunks[] = {4096, 8192, 16384, 32768, 65536};
static const int slot_counts[] = {2, 4, 8};

struct cut {
  size_t bytes, chunk;
  int slots;
};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void wait_for(const struct team* team, int rank, long long value) {
  int spins = 0;
  while (atomic_load_explicit(&team->area->rank[rank].flag, memory_order_acquire) < value)
    if (++spins > 20000) sched_yield();  // no pause: on some processors it alone takes longer than a flag
}

static void publish(const struct team* team, long long value) {
  atomic_store_explicit(&team->area->rank[team->rank].flag, value, memory_order_release);
}

// Rank 0 copies in, rank 1 out; a slot is written again only when rank 1 has read it.
static void pipe_in(struct bench* b, const struct cut* cut, long long base) {
  long long turn = 0;
  for (size_t at = 0; at < cut->bytes; at += cut->chunk, ++turn) {
    if (turn >= cut->slots) wait_for(&b->team, 1, base + turn - cut->slots + 1);
    char* slot = b->team.area->pipe + (size_t)(turn % cut->slots) * cut->chunk;
    memcpy(slot, (char*)b->work.send + at, smaller(cut->chunk, cut->bytes - at));
    publish(&b->team, base + turn + 1);
  }
}

static void pipe_out(struct bench* b, const struct cut* cut, long long base) {
  long long turn = 0;
  for (size_t at = 0; at < cut->bytes; at += cut->chunk, ++turn) {
    wait_for(&b->team, 0, base + turn + 1);
    const char* slot = b->team.area->pipe + (size_t)(turn % cut->slots) * cut->chunk;
    memcpy((char*)b->work.receive + at, slot, smaller(cut->chunk, cut->bytes - at));
    publish(&b->team, base + turn + 1);
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

// From the common start to the moment at which rank 1 has the last byte; counts on rank 0.
static double pipe_us(struct bench* b, const struct cut* cut) {
  struct team* team = &b->team;
  const struct point fresh = {BCAST, cut->bytes, 0};
  for (int i = 0; i < TURNS; ++i) {
    const long long base = atomic_load_explicit(&team->area->rank[0].flag, memory_order_relaxed);
    work_write(&b->work, team, &fresh, i + 1);
    const int64_t start = team_start(team);
    if (team->rank == 0) pipe_in(b, cut, base);
    if (team->rank == 1) pipe_out(b, cut, base);
    team->area->rank[team->rank].ticks[i] = clock_ticks() - start;
    team_start(team);
  }
  const double us = team->rank ? 0 : median_of_turns(b, 1);
  team_start(team);
  return us;
}

// The quickest of the ways to cut the bytes. What fits into one chunk is cut in one way only.
static void best_pipe(struct bench* b, size_t bytes, struct limits* found) {
  for (size_t c = 0; c < sizeof chunks / sizeof *chunks; ++c) {
    if (c && chunks[c - 1] >= bytes) break;
    for (size_t s = 0; s < sizeof slot_counts / sizeof *slot_counts; ++s) {
      if (s && (size_t)slot_counts[s - 1] * chunks[c] >= bytes) break;
      const struct cut cut = {bytes, chunks[c], slot_counts[s]};
      const double us = pipe_us(b, &cut);
      if (found->pipe_chunk && us >= found->pipe_us) continue;
      found->pipe_us = us;
      found->pipe_chunk = cut.chunk;
      found->pipe_slots = cut.slots;
    }
  }
}

static double memcpy_us(struct bench* b, size_t bytes) {
  const struct point fresh = {BCAST, bytes, 0};
  for (int i = 0; i < TURNS; ++i) {
    work_write(&b->work, &b->team, &fresh, i + 1);
    const int64_t start = clock_ticks();
    memcpy(b->work.receive, b->work.send, bytes);
    b->team.area->rank[0].ticks[i] = clock_ticks() - start;
  }
  return median_of_turns(b, 0);
}

struct limits limits_measure(struct bench* b, size_t bytes) {
  const struct point as_bcast = {BCAST, bytes, 0};
  struct limits found = {0, 0, 0, 0};
  work_begin(&b->work, &b->team, &as_bcast);
  team_wait_asleep(&b->team);
  if (!b->team.rank) found.memcpy_us = memcpy_us(b, bytes);
  team_wait_asleep(&b->team);
  if (b->team.size > 1 && b->team.cores > 1) best_pipe(b, bytes, &found);
  return found;
}
