#include "nodes.h"

#include <mpi.h>

void nodes_find(struct nodes* nodes, int rank, int size) {
  int leader = rank, leaders[MAX_RANKS];
  MPI_Comm node;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
  PMPI_Comm_free(&node);
  PMPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, MPI_COMM_WORLD);
  nodes->count = 0;
  for (int r = 0; r < size; ++r) nodes->of[r] = leaders[r] == r ? nodes->count++ : nodes->of[leaders[r]];
}

int nodes_partner(const struct nodes* nodes, int size, int same) {
  for (int r = 1; r < size; ++r)
    if ((nodes->of[r] == nodes->of[0]) == same) return r;
  return -1;
}
