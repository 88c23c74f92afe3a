/* A program that is ended before MPI_Finalize: 100 allreduces of 8 bytes and 30 barriers, then what the first
 * argument says: abort, MPI_Abort, exit, killed on rank 0; wait (for a signal) on all; finalize is the program
 * that ends well. `own handler`: of SIGTERM and SIGINT, which exits with 7. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void own_handler(int number) {
  (void)number;
  _exit(7);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "finalize";
  if (!strcmp(how, "own handler")) signal(SIGTERM, own_handler), signal(SIGINT, own_handler);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double mine = 1, sum;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 30; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(how, "all exit")) exit(0);
  if (!strcmp(how, "abort") && rank == 0) abort();
  if (!strcmp(how, "killed") && rank == 0) raise(SIGKILL);
  if (!strcmp(how, "MPI_Abort") && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  if (!strcmp(how, "exit") && rank == 0) exit(4);
  if (strcmp(how, "finalize")) {
    if (rank == 0) puts("waits"), fflush(stdout);
    for (int i = 0; i < 60; ++i) sleep(1);
  }
  MPI_Finalize();
  return 0;
}
