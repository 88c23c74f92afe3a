/* A known number of calls, for a profiler to count; results are checked. Wants two ranks. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0, word = 7;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 5; ++i) {
    int sum = -1, from_root = rank == 0 ? i : -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&from_root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    wrong += sum != size * (size - 1) / 2 || from_root != i;
  }
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) {
    if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("profiled: %d wrong\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
