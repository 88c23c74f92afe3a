// What this machine can do at best with n bytes: M(n), a memcpy; C(n), written by one rank, copied into
// shared memory by it and out by another, chunk by chunk at the same time.
#ifndef ESPALIER_BENCH_LIMITS_H
#define ESPALIER_BENCH_LIMITS_H

#include "measure.h"

struct limits {
  double memcpy_us;
  double pipe_us;     // the quickest way of cutting the bytes; 0 where there are not two ranks on two cores
  size_t pipe_chunk;  // and which one that was: bytes ...
  int pipe_slots;     // ... through so many slots
};

// Medians of a few turns, source freshly written before each. On all ranks; the result counts on rank 0.
struct limits limits_measure(struct bench* b, size_t bytes);

#endif
