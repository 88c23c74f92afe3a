// What a cost model of the cluster needs: messages of the host MPI between two ranks, while the others sleep.
#ifndef ESPALIER_BENCH_MESSAGES_H
#define ESPALIER_BENCH_MESSAGES_H

#include <stddef.h>

#include "measure.h"

enum { MESSAGE_SAMPLES = 15, LONGEST_MESSAGE = 1 << 20 };

struct messages {
  double half_trip_us[MESSAGE_SAMPLES];  // from one rank to the other: half of there and back
  double gap_us[MESSAGE_SAMPLES];        // between two messages of a row sent in one direction without a wait
};

// Between rank 0 and `partner`, `bytes` each; on all ranks, the result counts on rank 0. The longest buffers
// of `b` must hold `bytes`.
void messages_measure(struct bench* b, int partner, size_t bytes, struct messages* result);

#endif
