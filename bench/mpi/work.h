// The buffers of a rank, what is written into them, what must come out, and the calls themselves.
#ifndef ESPALIER_BENCH_WORK_H
#define ESPALIER_BENCH_WORK_H

#include "team.h"

enum side { HOST, ESPALIER, SIDES };

struct point {
  enum collective what;
  size_t bytes;  // per rank; 0 for the barrier
  int root;
};

struct work {
  double* send;
  double* receive;
};

// Room for messages of up to `bytes`. Returns -1 after a message on standard error.
int work_make(struct work* work, size_t bytes);

// What a program does before the call: new values, none of them zero, for call number `turn`. Only ranks
// whose send buffer counts write (in a bcast the root).
void work_write(const struct work* work, const struct team* team, const struct point* p, long turn);

// The call, by the host (PMPI names) or by whoever stands behind the MPI names.
void work_call(const struct work* work, const struct point* p, enum side side);

// Compares the result of call number `turn` with what the written values must give. For the barrier: makes
// one more call and looks whether every rank had arrived. Returns the number of wrong elements.
long work_check(const struct work* work, struct team* team, const struct point* p, enum side side, long turn);

#endif
