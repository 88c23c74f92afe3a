/* The first two ranks use a session's communicator before MPI_Init, all ranks MPI_COMM_WORLD afterwards. */
#include <mpi.h>

#include <stdio.h>

static int wrong_sums(MPI_Comm comm) {
  int rank, size, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int step = 0; step < 20; ++step) {
    long mine = rank + step, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    wrong += sum != (long)size * step + (long)size * (size - 1) / 2;
  }
  return wrong;
}

static int in_a_session(void) {
  MPI_Session session;
  MPI_Group all, two = MPI_GROUP_EMPTY;
  MPI_Comm comm;
  int rank, wrong = 0;
  const int first[] = {0, 1};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &rank);
  if (rank < 2) {
    MPI_Group_incl(all, 2, first, &two);
    MPI_Comm_create_from_group(two, "espalier.tests.two", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    wrong = wrong_sums(comm);
    MPI_Init(NULL, NULL);
    wrong += wrong_sums(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&two);
  } else {
    MPI_Init(NULL, NULL);
  }
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
  return wrong;
}

int main(void) {
  int rank, failed = in_a_session();
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  failed += wrong_sums(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  failed += wrong_sums(half);
  MPI_Comm_free(&half);
  if (failed) fprintf(stderr, "FAILED on rank %d\n", rank);
  if (rank == 0) printf("session_first: %d failed\n", failed);
  MPI_Finalize();
  return failed != 0;
}
