/* An MPI program that runs other programs: they inherit the preloaded library and must not notice. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long sum_of_ranks(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long mine = rank, sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long right = (long)size * (size - 1) / 2;
  failed |= sum_of_ranks() != right;
  for (int i = 0; i < 3; ++i) {
    if (system("true") != 0) failed = 1, fprintf(stderr, "FAILED: system(\"true\") on rank %d\n", rank);
    if (WEXITSTATUS(system("exit 7")) != 7)
      failed = 1, fprintf(stderr, "FAILED: system(\"exit 7\") on rank %d\n", rank);
    failed |= sum_of_ranks() != right;
  }
  /* A child that leaves by exit() runs the parent's exit handlers: they must not touch what the ranks share.
   */
  pid_t child = fork();
  if (child == 0) exit(5);
  int status = 0;
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5)
    failed = 1, fprintf(stderr, "FAILED: fork\n");
  failed |= sum_of_ranks() != right;
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("child: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
