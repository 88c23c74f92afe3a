/* Collectives and new communicators without end, for tests that kill the job. Prints "running" once. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enum { many = 50000 };
  double* numbers = calloc(many, sizeof *numbers);
  double* sums = calloc(many, sizeof *sums);
  for (long step = 0;; ++step) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (step % 10 == 9) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Allreduce(numbers, sums, step % 7 ? 1 : many, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Bcast(numbers, step % 5 ? 3 : many, MPI_DOUBLE, 0, comm);
    MPI_Barrier(comm);
    if (comm != MPI_COMM_WORLD && step % 20 == 9) MPI_Comm_free(&comm);
    if (step > 2000) step = 0;
    if (rank == 0 && step == 3) {
      puts("running");
      fflush(stdout);
    }
  }
}
