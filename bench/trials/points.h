// The points of a run of `trials`, and which sides take part in each.
#ifndef ESPALIER_BENCH_TRIALS_POINTS_H
#define ESPALIER_BENCH_TRIALS_POINTS_H

#include "../mpi/plan.h"

// Side 0 is the host (PMPI names); side 1 + t is trial t: the plans of the rules with "trial": t, on a communicator
// of its own (docs/rules.md).
enum { MAX_TRIALS = 16, MAX_SIDES = 1 + MAX_TRIALS };

struct sides {
  int side[MAX_SIDES];
  int count;
};

struct points {
  struct plan plan;
  struct sides of[COLLECTIVES * MAX_POINTS];
  int trials;  // one more than the highest
};

// Reads lines such as "allreduce 8192 host 0 3": collective, bytes, and who takes part. Prints what is wrong to
// standard error and returns -1.
int points_read(struct points* points, const char* path);

#endif
