/* A program that lives with errors: allreduces until one returns an error. Then each rank says so, the next call on the
 * communicator has to be an error as well, and a new communicator has to work.
 *
 * errors_returned [CALL [RANK HOW]]: from this call on, and until one has failed, sends fail (failing_sends.c), of all
 * ranks or as HOW says of one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int allreduce_is_right(MPI_Comm comm, int ranks, int call, int* code) {
  int mine[4] = {call, 1, 2, 3}, sum[4] = {0};
  *code = MPI_Allreduce(mine, sum, 4, MPI_INT, MPI_SUM, comm);
  return sum[0] == ranks * call && sum[1] == ranks && sum[2] == 2 * ranks && sum[3] == 3 * ranks;
}

/* What MPI_ERRORS_RETURN does; that is wrong under Intel MPI's standard ABI. */
static void go_on(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int broken_from = argc > 1 ? atoi(argv[1]) : 0;
  int rank, ranks, code = MPI_SUCCESS, call = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh); /* not used before something has failed */
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(go_on, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  while (code == MPI_SUCCESS && call < 40) {
    if (++call == broken_from && (argc < 4 || atoi(argv[2]) == rank)) setenv("FAIL_SENDS", argc < 4 ? "1" : argv[3], 1);
    if (!allreduce_is_right(MPI_COMM_WORLD, ranks, call, &code) && code == MPI_SUCCESS) {
      printf("rank %d: call %d is wrong\n", rank, call);
      return 1;
    }
  }
  unsetenv("FAIL_SENDS");
  int again = MPI_SUCCESS, later = MPI_SUCCESS;
  if (code != MPI_SUCCESS) allreduce_is_right(MPI_COMM_WORLD, ranks, call, &again);
  const int works = allreduce_is_right(fresh, ranks, 7, &later);
  printf("rank %d: %s, then %s, new communicator %s\n", rank, code ? "error" : "no error", again ? "error" : "no error",
         works && !later ? "works" : "fails");
  fflush(stdout);
  MPI_Comm_free(&fresh);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
