/* A rank that has started a collective owes the others nothing: here all but the last one start it and receive in the
 * host what the last one sends when its own part is complete. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 32768, ROUNDS = 100 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double* given = malloc(sizeof *given * COUNT);
  double* sum = malloc(sizeof *sum * COUNT);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i) given[i] = rank + i + round;
    MPI_Request request;
    MPI_Iallreduce(given, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank != ranks - 1) MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == ranks - 1)
      for (int other = 0; other < rank; ++other) MPI_Send(NULL, 0, MPI_BYTE, other, 7, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) failed += sum[i] != ranks * (i + round) + ranks * (ranks - 1) / 2.0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("owing_nothing: %d failed\n", failed);
  free(given);
  free(sum);
  MPI_Finalize();
  return failed != 0;
}
