#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { BLOCK_BYTES = 1024 };

// Barrier and allreduce hold the ranks together by themselves, so short ones are timed as a block of calls
// and the clock's share vanishes. In a bcast or reduce some ranks would run ahead: those are timed one by one
// from a common start.
static int in_block(const struct point* p) {
  return p->what == BARRIER || (p->what == ALLREDUCE && p->bytes <= BLOCK_BYTES);
}

static void prepare(struct bench* b, const struct point* p, int force) {
  if (!force && b->reused) return;
  work_write(&b->work, &b->team, p, ++b->turn);
}

static void time_block(struct bench* b, const struct point* p, enum side side, int calls) {
  const int64_t start = team_start(&b->team);
  for (int i = 0; i < calls; ++i) {
    prepare(b, p, 0);
    work_call(&b->work, p, side);
  }
  b->team.area->rank[b->team.rank].ticks[0] = clock_ticks() - start;
}

static void time_singles(struct bench* b, const struct point* p, enum side side, int calls) {
  for (int i = 0; i < calls; ++i) {
    prepare(b, p, 0);
    const int64_t start = team_start(&b->team);
    work_call(&b->work, p, side);
    b->team.area->rank[b->team.rank].ticks[i] = clock_ticks() - start;
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int n) {
  qsort(values, n, sizeof *values, ascending);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// `samples` timed stretches of `calls` calls each.
static struct timing collect(const struct team* team, int root, int samples, int calls) {
  double slowest[MAX_CALLS], mean[MAX_CALLS], at_root[MAX_CALLS];
  const double us = team->area->nanoseconds_per_tick / 1000 / calls;
  for (int i = 0; i < samples; ++i) {
    int64_t most = 0, sum = 0;
    for (int r = 0; r < team->size; ++r) {
      const int64_t ticks = team->area->rank[r].ticks[i];
      if (ticks > most) most = ticks;
      sum += ticks;
    }
    slowest[i] = us * (double)most;
    mean[i] = us * (double)sum / team->size;
    at_root[i] = us * (double)team->area->rank[root].ticks[i];
  }
  return (struct timing){median(slowest, samples), median(mean, samples), median(at_root, samples)};
}

struct timing measure(struct bench* b, const struct point* p, enum side side, int calls) {
  struct timing t = {0, 0, 0};
  prepare(b, p, 1);
  work_call(&b->work, p, side);  // warm-up
  in_block(p) ? time_block(b, p, side, calls) : time_singles(b, p, side, calls);
  const long turn = b->turn;
  team_start(&b->team);
  if (!b->team.rank)
    t = in_block(p) ? collect(&b->team, p->root, 1, calls) : collect(&b->team, p->root, calls, 1);
  b->wrong += work_check(&b->work, &b->team, p, side, turn);
  team_start(&b->team);
  return t;
}

static int clamp(double value, int low, int high) {
  return value < low ? low : value > high ? high : (int)value;
}

int measure_plan(struct bench* b, const struct point* p, enum side side) {
  measure(b, p, side, 2);
  const double us = measure(b, p, side, 3).us + 0.01;
  const int most = in_block(p) ? clamp(100 / us, us > 500 ? 3 : 20, 200) : clamp(1500 / us, 3, 11);
  return (int)team_agree(&b->team, most);
}

double measure_nothing_us(struct bench* b) {
  for (int i = 0; i < MAX_CALLS; ++i) {
    const int64_t start = team_start(&b->team);
    b->team.area->rank[b->team.rank].ticks[i] = clock_ticks() - start;
  }
  team_start(&b->team);
  const double us = b->team.rank ? 0 : collect(&b->team, 0, MAX_CALLS, 1).us;
  team_start(&b->team);
  return us;
}
