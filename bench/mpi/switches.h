// S(k), what it costs when k ranks share a core: one round in which each of them is switched to once.
#ifndef ESPALIER_BENCH_SWITCHES_H
#define ESPALIER_BENCH_SWITCHES_H

#include "team.h"

struct switches {
  int per_core;  // k, on the fullest core
  double us;     // one round; 0 where no core has two ranks
};

// Every rank is fixed to its core (rank modulo cores) for the moment and yields until each rank of the core
// has been switched to once, some rounds in a row, all cores at the same time. The slowest core counts.
// On all ranks; the result counts on rank 0.
struct switches switches_measure(struct team* team);

#endif
