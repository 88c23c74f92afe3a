#include "collective.h"

#include <string.h>

static const char* const names[COLLECTIVES] = {"barrier",
                                               "bcast",
                                               "reduce",
                                               "allreduce",
                                               "allgather",
                                               "allgatherv",
                                               "gather",
                                               "gatherv",
                                               "scatter",
                                               "scatterv",
                                               "alltoall",
                                               "alltoallv",
                                               "reduce_scatter_block",
                                               "reduce_scatter",
                                               "scan",
                                               "exscan",
                                               "alltoallw",
                                               "neighbor_allgather",
                                               "neighbor_allgatherv",
                                               "neighbor_alltoall",
                                               "neighbor_alltoallv",
                                               "neighbor_alltoallw"};

const char* collective_name(enum collective which) { return names[which]; }

enum collective collective_parse(const char* name) {
  for (int c = 0; c < COLLECTIVES; ++c)
    if (!strcmp(name, names[c])) return c;
  return COLLECTIVES;
}

int collective_on_demand(enum collective which) { return which >= ALLTOALLW; }

int collective_gathers_neighbours(enum collective which) {
  return which == NEIGHBOR_ALLGATHER || which == NEIGHBOR_ALLGATHERV;
}

int collective_exchanges_neighbours(enum collective which) {
  return which == NEIGHBOR_ALLTOALL || which == NEIGHBOR_ALLTOALLV || which == NEIGHBOR_ALLTOALLW;
}

int collective_holds_together(enum collective which) {
  switch (which) {
    case BARRIER:
    case ALLREDUCE:
    case ALLGATHER:
    case ALLGATHERV:
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER:
      return 1;
    default:
      return 0;
  }
}
