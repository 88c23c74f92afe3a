/* A wrong program that goes on: a persistent collective is started twice, and freed while it is active. Each
   is an error of that call, and the collective is complete and right all the same. Another is never freed. */
#include <mpi.h>

#include <stdio.h>

static int rank, failed;

static void expect(int right, const char* what) {
  if (right) return;
  failed = 1;
  fprintf(stderr, "FAILED %s on rank %d\n", what, rank);
}

int main(int argc, char** argv) {
  int size, mine, sum = 0, token = 0;
  MPI_Request request, left;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &left);
  for (int round = 0; round < 3; ++round) {
    mine = rank + round;
    /* The last rank starts when the others, whose collective is active, have tried to free it. */
    for (int peer = 0; rank == size - 1 && peer < size - 1; ++peer)
      MPI_Recv(&token, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(MPI_Start(&request) == MPI_SUCCESS, "start");
    expect(MPI_Start(&request) != MPI_SUCCESS, "the second start is an error");
    if (rank < size - 1) {
      expect(MPI_Request_free(&request) != MPI_SUCCESS, "freeing it while it is active is an error");
      expect(request != MPI_REQUEST_NULL, "the request is still there");
      MPI_Send(&token, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
    }
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "wait");
    expect(sum == size * round + size * (size - 1) / 2, "the sum");
  }
  expect(MPI_Start(&request) == MPI_SUCCESS, "the last start");
  for (int flag = 0; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  expect(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL, "free, once it is complete");
  expect(sum == size * 2 + size * (size - 1) / 2, "the sum");
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("persistent_misuse: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
