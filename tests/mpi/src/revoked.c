/* A communicator that has been revoked (MPIX_Comm_revoke): collectives on it fail with the host's error, whether it was used
 * before or not. All ranks revoke it: without `mpirun --with-ft ulfm` the others would not hear of one. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>

static int rank, failed;

static int class_of(int code) {
  int value = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &value);
  return value;
}

static void expect_revoked(const char* what, int code) {
  if (class_of(code) == MPIX_ERR_REVOKED) return;
  ++failed;
  printf("revoked, rank %d: %s: error class %d\n", rank, what, class_of(code));
}

static void check(MPI_Comm of, int is_used) {
  MPI_Comm comm;
  int one = 1, sum;
  MPI_Comm_dup(of, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (is_used) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPIX_Comm_revoke(comm);
  expect_revoked(is_used ? "barrier of one that was used" : "barrier of a new one", MPI_Barrier(comm));
  expect_revoked("allreduce", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int is_used = 0; is_used < 2; ++is_used) {
    check(MPI_COMM_SELF, is_used);
    check(MPI_COMM_WORLD, is_used);
  }
  int all = 0;
  MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("revoked: %d failed\n", all);
  fflush(stdout);
  MPI_Finalize();
  return failed != 0;
}
