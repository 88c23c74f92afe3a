/* Nonblocking calls on communicators whose ranks have not met in a blocking one, and on those that come after them with the
   same handle. Of four ranks on two nodes, two each. */
#include <mpi.h>

#include <stdio.h>

static int failed;

static void sum(MPI_Comm comm, int times, const char* which) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < times; ++i) {
    long mine = rank + i, all = -1;
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const long wanted = (long)size * (size - 1) / 2 + (long)i * size;
    if (all == wanted) continue;
    fprintf(stderr, "FAILED sum %d of %s: %ld instead of %ld\n", i, which, all, wanted);
    ++failed;
  }
}

static void of_all(int times) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  sum(comm, times, "all ranks");
  MPI_Comm_free(&comm);
}

static void of_node(int rank, int times) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm);
  sum(comm, times, "a node");
  MPI_Comm_free(&comm);
}

static void of_all_that_meet(int times) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  sum(comm, times, "all ranks before they meet");
  MPI_Barrier(comm);
  sum(comm, times, "all ranks after they have met");
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, of_all_ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    of_all(5);
    of_node(rank, 7);
  }
  of_all_that_meet(11);
  MPI_Reduce(&failed, &of_all_ranks, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("unmet: %d failed\n", of_all_ranks);
  MPI_Finalize();
  return of_all_ranks != 0;
}
