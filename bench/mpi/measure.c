#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

// From LONG_BYTES of all ranks together on, a rank that is done sleeps where yields are weak: it would burn
// more than the 15 µs or so by which woken ranks come to the start one after the other.
enum { BLOCK_BYTES = 1024, LONG_BYTES = 256 * 1024, SINGLES = 21 };

// Calls that hold the ranks together by themselves are timed as a block, too, if they are short: there the
// clock's share vanishes, and a call meets ranks that come from the one before. In a bcast or reduce some
// ranks would run ahead through a block, which shows their number in a time and not how long one takes.
static int in_block(const struct bench* b, const struct point* p) {
  return !b->late_us && p->bytes <= BLOCK_BYTES && collective_holds_together(p->what);
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

// One of the ranks, in turn, computes on before it comes. Its arrival is noted, from the common start on.
static void come_late(struct bench* b, int64_t start, int call) {
  if (b->lates++ % b->team.size != b->team.rank) return;
  const int64_t end = start + (int64_t)(b->late_us * 1000 / b->team.area->nanoseconds_per_tick);
  while (clock_ticks() < end) continue;
  b->team.area->late[call] = clock_ticks() - start;
}

static void time_singles(struct bench* b, const struct point* p, enum side side, int calls) {
  for (int i = 0; i < calls; ++i) {
    prepare(b, p, 0);
    if (p->bytes * (size_t)b->team.size >= LONG_BYTES) team_gather(&b->team);
    const int64_t start = team_start(&b->team);
    if (b->late_us > 0) come_late(b, start, i);
    work_call(&b->work, p, side);
    b->team.area->rank[b->team.rank].ticks[i] = clock_ticks() - start;
    // Else a rank that is done would write its next buffer on a core that others need for this call.
    if (b->team.oversubscribed) team_start(&b->team);
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

// The slowest rank's ticks of one sample.
static int64_t slowest_ticks(const struct team* team, int sample) {
  int64_t most = 0;
  for (int r = 0; r < team->size; ++r)
    if (team->area->rank[r].ticks[sample] > most) most = team->area->rank[r].ticks[sample];
  return most;
}

// `samples` timed stretches of `calls` calls each. With a late rank the time begins at its arrival.
static struct timing collect(const struct team* team, int root, int samples, int calls, int late) {
  double slowest[MAX_CALLS], mean[MAX_CALLS], at_root[MAX_CALLS];
  const double us = team->area->nanoseconds_per_tick / 1000 / calls;
  for (int i = 0; i < samples; ++i) {
    const int64_t from = late ? team->area->late[i] : 0;
    int64_t sum = 0;
    for (int r = 0; r < team->size; ++r) sum += team->area->rank[r].ticks[i] - from;
    slowest[i] = us * (double)(slowest_ticks(team, i) - from);
    mean[i] = us * (double)sum / team->size;
    at_root[i] = us * (double)(team->area->rank[root].ticks[i] - from);
  }
  return (struct timing){median(slowest, samples), median(mean, samples), median(at_root, samples), 0};
}

// Up to the first call of a point, which is never timed.
static void begin(struct bench* b, const struct point* p, enum side side) {
  work_begin(&b->work, &b->team, p);
  work_open(&b->work, p, side);
  prepare(b, p, 1);
  work_call(&b->work, p, side);
}

// Checks the last call.
static void end(struct bench* b, const struct point* p, enum side side) {
  b->wrong += work_check(&b->work, &b->team, p, side, b->turn);
  work_close(&b->work, side);
  team_start(&b->team);
}

struct timing measure(struct bench* b, const struct point* p, enum side side, int calls) {
  struct timing t = {0, 0, 0, 0};
  const int block = in_block(b, p), singles = block && calls > SINGLES ? SINGLES : calls;
  begin(b, p, side);
  time_singles(b, p, side, singles);
  team_start(&b->team);
  if (!b->team.rank) t = collect(&b->team, p->root, singles, 1, b->late_us > 0);
  if (block) {
    team_start(&b->team);  // rank 0 has read what the others are about to write
    time_block(b, p, side, calls);
    team_start(&b->team);
    if (!b->team.rank) t.block_us = collect(&b->team, p->root, 1, calls, 0).us;
  }
  end(b, p, side);
  return t;
}

void measure_each(struct bench* b, const struct point* p, enum side side, int calls, double* us) {
  begin(b, p, side);
  time_singles(b, p, side, calls);
  team_start(&b->team);
  for (int i = 0; us && i < calls; ++i) {
    const int64_t from = b->late_us > 0 ? b->team.area->late[i] : 0;
    us[i] = team_ns(&b->team, slowest_ticks(&b->team, i) - from) / 1000;
  }
  end(b, p, side);
}

void measure_call_once(struct bench* b, const struct point* p) {
  begin(b, p, ESPALIER);
  end(b, p, ESPALIER);
}

static int clamp(double value, int low, int high) {
  return value < low ? low : value > high ? high : (int)value;
}

// Very slow calls are not worth a second trial.
int measure_plan(struct bench* b, const struct point* p, enum side side) {
  double us = measure(b, p, side, 2).us;
  if (team_agree(&b->team, us < 2000)) us = measure(b, p, side, 3).us;
  us += 0.01;
  const int block = in_block(b, p), slow = us > 10000;
  const int most = block ? clamp(100 / us,
                                 slow       ? 1
                                 : us > 500 ? 3
                                            : 20,
                                 200)
                         : clamp(1500 / us, slow ? 1 : 3, 11);
  return (int)team_agree(&b->team, most);
}

double measure_nothing_us(struct bench* b) {
  for (int i = 0; i < MAX_CALLS; ++i) {
    const int64_t start = team_start(&b->team);
    b->team.area->rank[b->team.rank].ticks[i] = clock_ticks() - start;
  }
  team_start(&b->team);
  const double us = b->team.rank ? 0 : collect(&b->team, 0, MAX_CALLS, 1, 0).us;
  team_start(&b->team);
  return us;
}
