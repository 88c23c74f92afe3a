/* Many mistakes that are errors, whose codes are returned: their class, their words, and what the error
 * handler got. Ranks disagree on the length of an allreduce on a fresh communicator each time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int handed = MPI_SUCCESS;

static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  handed = *code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, highest = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    int given[1000] = {0}, got[1000];
    handed = MPI_SUCCESS;
    int code = MPI_Allreduce(given, got, 1 + (i % 400) + rank, MPI_INT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) code = MPI_Barrier(comm);
    int error_class = -1, length = -1;
    char words[MPI_MAX_ERROR_STRING + 1];
    memset(words, '#', sizeof words);
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, words, &length);
    if (code > highest) highest = code;
    const int fits =
        length > 0 && length < MPI_MAX_ERROR_STRING && words[length] == 0 && (int)strlen(words) == length;
    if (i < 3 || i == rounds - 1 || !fits)
      printf("rank %d round %d: class %s, handler %s, %s: %s\n", rank, i,
             error_class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another", handed == code ? "same" : "another",
             fits ? "fits" : "does not fit", words);
    MPI_Comm_free(&comm);
  }
  int last = 0; /* a code of the program's own: how many have been used up */
  MPI_Add_error_code(MPI_ERR_OTHER, &last);
  fflush(stdout);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
