#define _GNU_SOURCE
#include "switches.h"

#include <sched.h>

#include "clock.h"

enum { ROUNDS = 50 };

// Where yields are weak a round takes many milliseconds: fewer rounds then.
static const double enough_ns = 20e6;

static int ranks_on(const struct team* team, int core) {
  return team->size / team->cores + (core < team->size % team->cores);
}

// Called by the rank that completes round `done` of this stretch; round 0 only brings the ranks together.
static void complete(const struct team* team, struct core_line* core, int done) {
  core->end = clock_ticks();
  if (!done) core->begin = core->end;
  core->timed = done;
  core->over = done == ROUNDS || team_ns(team, core->end - core->begin) > enough_ns;
  atomic_store_explicit(&core->arrived, 0, memory_order_relaxed);
  // release: a rank that sees the new number sees what was written above
  atomic_fetch_add_explicit(&core->rounds, 1, memory_order_release);
}

static void take_turns(const struct team* team, struct core_line* core, int ranks, long long first) {
  long long next = first;  // the round in which this rank has not had the core yet
  for (;;) {
    const long long round = atomic_load_explicit(&core->rounds, memory_order_acquire);
    if (round > first && core->over) return;
    if (next == round) {
      ++next;
      // acq_rel: the one who completes the round sees that all others have counted themselves
      if (atomic_fetch_add_explicit(&core->arrived, 1, memory_order_acq_rel) + 1 == ranks)
        complete(team, core, (int)(round - first));
    }
    sched_yield();
  }
}

static struct switches slowest(const struct team* team) {
  struct switches found = {ranks_on(team, 0), 0};
  for (int c = 0; c < team->cores && c < team->size; ++c) {
    const struct core_line* core = &team->area->core[c];
    const double us = core->timed ? team_ns(team, core->end - core->begin) / 1000 / core->timed : 0;
    if (ranks_on(team, c) > 1 && us > found.us) found.us = us;
  }
  return found;
}

struct switches switches_measure(struct team* team) {
  const int mine = team->rank % team->cores, ranks = ranks_on(team, mine);
  struct core_line* core = &team->area->core[mine];
  cpu_set_t before;
  if (team->size <= team->cores) return (struct switches){1, 0};
  sched_getaffinity(0, sizeof before, &before);
  team_pin_to(team->cpu[mine]);
  const long long first = atomic_load_explicit(&core->rounds, memory_order_relaxed);
  team_start(team);  // no rank may begin before all have read `first`
  if (ranks > 1) take_turns(team, core, ranks, first);
  team_wait_asleep(team);
  sched_setaffinity(0, sizeof before, &before);
  const struct switches found = slowest(team);
  team_start(team);
  return found;
}
