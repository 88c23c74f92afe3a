// What this machine can do at best with n bytes: M(n), a memcpy; C(n), copied into shared memory by one rank
// and out by the other, chunk by chunk at the same time.
#ifndef ESPALIER_BENCH_LIMITS_H
#define ESPALIER_BENCH_LIMITS_H

#include "measure.h"

struct limits {
  double memcpy_us;
  double pipe_us;  // 0 where there are not two ranks
};

// Median of a few turns, source freshly written before each. On all ranks; the result counts on rank 0.
struct limits limits_measure(struct bench* b, size_t bytes);

#endif
