// The collectives that are measured, and what the method has to know of each.
#ifndef ESPALIER_BENCH_COLLECTIVE_H
#define ESPALIER_BENCH_COLLECTIVE_H

enum collective {
  BARRIER,
  BCAST,
  REDUCE,
  ALLREDUCE,
  ALLGATHER,
  ALLGATHERV,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLTOALL,
  ALLTOALLV,
  REDUCE_SCATTER_BLOCK,
  REDUCE_SCATTER,
  SCAN,
  EXSCAN,
  ALLTOALLW,
  NEIGHBOR_ALLGATHER,
  NEIGHBOR_ALLGATHERV,
  NEIGHBOR_ALLTOALL,
  NEIGHBOR_ALLTOALLV,
  NEIGHBOR_ALLTOALLW,
  COLLECTIVES
};

// Of a ring, the topology that neighbours are measured on: the rank below, and the one above.
enum { EDGES = 2 };

const char* collective_name(enum collective which);

// The collective of this name, or COLLECTIVES.
enum collective collective_parse(const char* name);

// One that is measured only where it is named.
int collective_on_demand(enum collective which);

// Among neighbours, those that send one block to all, and those with a block for each.
int collective_gathers_neighbours(enum collective which);
int collective_exchanges_neighbours(enum collective which);

// No rank can leave before all have come, because each rank's result needs something of every other rank.
int collective_holds_together(enum collective which);

#endif
