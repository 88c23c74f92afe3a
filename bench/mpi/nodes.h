// Which node each rank is on, as the host MPI sees it (MPI_COMM_TYPE_SHARED).
#ifndef ESPALIER_BENCH_NODES_H
#define ESPALIER_BENCH_NODES_H

#include "area.h"

struct nodes {
  int of[MAX_RANKS];  // number of the rank's node; nodes count in the order of their lowest ranks
  int count;
};

// Collective over all ranks (uses PMPI).
void nodes_find(struct nodes* nodes, int rank, int size);

// The lowest rank other than 0 that is on rank 0's node (`same`), or on another one; -1: there is none.
int nodes_partner(const struct nodes* nodes, int size, int same);

#endif
