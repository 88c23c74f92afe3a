/* A rank that has a large MPI_Isend in flight enters a collective while its partner first receives. The send
   needs progress on the sender's side, so a wait inside the collective that does not drive the host's
   progress deadlocks. isend_outstanding [milliseconds that the partner sleeps before it receives] */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { bytes = 4 << 20, tag = 5 };

static void pause_for(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static void collective(int which, int root, const int* rank, long* sum) {
  long one = *rank + 1;
  *sum = -1;
  switch (which) {
    case 0:
      MPI_Allreduce(&one, sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case 2:
      *sum = *rank == root ? 77 : -1;
      MPI_Bcast(sum, 1, MPI_LONG, root, MPI_COMM_WORLD);
      break;
    default:
      MPI_Reduce(&one, sum, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
  }
}

static int right(int which, int root, int rank, int size, long sum) {
  long all = (long)size * (size + 1) / 2;
  if (which == 0) return sum == all;
  if (which == 2) return sum == 77;
  if (which == 3 && rank == root) return sum == all;
  return 1;
}

/* All even ranks send to their odd neighbour; the odd ones receive before they enter. */
static int one_round(int which, int round, int sleep_before, char* buffer, int rank, int size) {
  int partner = rank ^ 1;
  MPI_Request request = MPI_REQUEST_NULL;
  long sum;
  /* The root of a bcast or reduce waits only when it has no child: let both kinds of rank be root. */
  int root = round % size, failed = 0;
  if (rank % 2 == 0 && partner < size) {
    for (int i = 0; i < bytes; ++i) buffer[i] = (char)(i * 7 + round);
    MPI_Isend(buffer, bytes, MPI_CHAR, partner, tag, MPI_COMM_WORLD, &request);
    collective(which, root, &rank, &sum);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (rank % 2 == 1) {
      pause_for(sleep_before);
      MPI_Recv(buffer, bytes, MPI_CHAR, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < bytes && !failed; ++i) failed = buffer[i] != (char)(i * 7 + round);
    }
    collective(which, root, &rank, &sum);
  }
  if (!right(which, root, rank, size, sum)) failed = 1;
  if (failed) fprintf(stderr, "FAILED collective %d, round %d, rank %d: wrong data\n", which, round, rank);
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, failed = 0, sleep_before = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* buffer = malloc(bytes);
  for (int which = 0; which < 4; ++which)
    for (int round = 0; round < 6; ++round) {
      alarm(60); /* a deadlock ends with SIGALRM and not with the test's patience */
      failed += one_round(which, round, sleep_before, buffer, rank, size);
    }
  alarm(0);
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("isend_outstanding: %d failed\n", all);
  free(buffer);
  MPI_Finalize();
  return failed ? 1 : 0;
}
