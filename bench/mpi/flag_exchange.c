#define _GNU_SOURCE
#include "flag_exchange.h"

#include <sched.h>

#include "clock.h"

enum { EXCHANGES = 40, STRETCHES = 5, TRIPS = 500 };

static void wait_for(struct team* team, int rank, long long value) {
  int spins = 0;
  while (atomic_load_explicit(&team->area->rank[rank].flag, memory_order_acquire) < value) {
    // No pause: on some processors it alone lasts longer than the exchange. Only a rank that lost its core to
    // a rank waits so long that it should yield.
    if (++spins > 20000) sched_yield();
  }
}

static void publish(struct team* team, long long value) {
  atomic_store_explicit(&team->area->rank[team->rank].flag, value, memory_order_release);
}

static long long own(struct team* team) {
  return atomic_load_explicit(&team->area->rank[team->rank].flag, memory_order_relaxed);
}

static void sort(int64_t* v, int n) {
  for (int i = 1; i < n; ++i)
    for (int k = i; k > 0 && v[k] < v[k - 1]; --k) {
      const int64_t t = v[k];
      v[k] = v[k - 1];
      v[k - 1] = t;
    }
}

// The middle one of a few stretches, so that a moment in which another process had the core does not count.
static int64_t exchange(struct team* team, int other) {
  int64_t stretch[STRETCHES];
  long long turn = own(team);
  publish(team, ++turn);
  wait_for(team, other, turn);  // this one waits for the other to come
  for (int s = 0; s < STRETCHES; ++s) {
    const int64_t begin = clock_ticks();
    for (int i = 0; i < EXCHANGES; ++i) {
      publish(team, ++turn);
      wait_for(team, other, turn);
    }
    stretch[s] = clock_ticks() - begin;
  }
  sort(stretch, STRETCHES);
  return stretch[STRETCHES / 2];
}

double flag_exchange_ns(struct team* team) {
  if (team->size < 2 || team->cores < 2 || team->apart) return 0;
  team_wait_asleep(team);
  if (team->rank < 2) {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    team_pin_to(team->cpu[team->rank]);  // ranks that are free to move are fixed for the moment
    const int64_t ticks = exchange(team, 1 - team->rank);
    sched_setaffinity(0, sizeof before, &before);
    if (!team->rank) team->area->agreed[1] = ticks;
  }
  team_wait_asleep(team);
  return team_ns(team, team->area->agreed[1]) / EXCHANGES;
}

static void round_trips(struct team* team) {
  struct area* area = team->area;
  long long turn = own(team);
  int64_t best = INT64_MAX;
  for (int i = 0; i < TRIPS; ++i, ++turn) {
    const int64_t begin = clock_ticks();
    publish(team, turn + 1);
    wait_for(team, 1, turn + 1);
    const int64_t there = area->rank[1].ticks[0], end = clock_ticks();
    if (end - begin >= best) continue;
    best = end - begin;
    area->agreed[2] = there - (begin + end) / 2;
  }
}

static void answer_trips(struct team* team) {
  long long turn = own(team);
  for (int i = 0; i < TRIPS; ++i, ++turn) {
    wait_for(team, 0, turn + 1);
    team->area->rank[1].ticks[0] = clock_ticks();
    publish(team, turn + 1);
  }
}

double flag_clock_offset_ns(struct team* team) {
  if (team->size < 2 || team->apart) return 0;
  team_wait_asleep(team);
  if (team->rank == 0) round_trips(team);
  if (team->rank == 1) answer_trips(team);
  team_wait_asleep(team);
  return team_ns(team, team->area->agreed[2]);
}
