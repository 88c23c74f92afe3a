// Times of one point (collective, bytes, root) on one side, in microseconds for one call.
#ifndef ESPALIER_BENCH_MEASURE_H
#define ESPALIER_BENCH_MEASURE_H

#include "work.h"

struct timing {
  double us;       // the slowest rank's, median of the calls
  double mean_us;  // mean over the ranks, median of the calls
  double root_us;  // the root's, median of the calls (rank 0 where there is no root)
  // Of a block of calls that follow on each other, the slowest rank's time by their number; 0: not measured.
  double block_us;
};

struct bench {
  struct team team;
  struct work work;
  int reused;
  int allocated;   // buffers are from MPI_Alloc_mem
  double late_us;  // see options.h
  long lates;      // late arrivals so far: the late rank is this number modulo the ranks
  long turn;       // number of calls so far: makes the values new each time
  long wrong;      // wrong elements seen by this rank
};

// How many calls one round makes of this point, from a few trial calls of `side`. The same on every rank.
int measure_plan(struct bench* b, const struct point* p, enum side side);

// A warm-up call, `calls` timed one by one from a common start, a check of the last result. Short calls that
// hold the ranks together are timed a second time, as a block of `calls`, of which at most SINGLES are made one
// by one. On all ranks; the result counts on rank 0.
struct timing measure(struct bench* b, const struct point* p, enum side side, int calls);

// The same, but the time of each single call, slowest rank's, in microseconds into `us` (rank 0's only).
void measure_each(struct bench* b, const struct point* p, enum side side, int calls, double* us);

// One call of the MPI names, checked, not timed.
void measure_call_once(struct bench* b, const struct point* p);

// What the method gives when the call is empty: the clock's share in every single-call time.
double measure_nothing_us(struct bench* b);

#endif
