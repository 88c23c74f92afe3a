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
  COLLECTIVES
};

const char* collective_name(enum collective which);

// The collective of this name, or COLLECTIVES.
enum collective collective_parse(const char* name);

// No rank can leave before all have come, because each rank's result needs something of every other rank.
int collective_holds_together(enum collective which);

#endif
