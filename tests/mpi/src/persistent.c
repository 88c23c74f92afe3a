/* Other collectives run while persistent ones are active, whether Espalier or the host serves them: a rank may start one, then
   serve a partner that starts its own only afterwards, and wait in a collective meanwhile. */
#include <mpi.h>

#include <stdio.h>

enum { count = 1000, rounds = 20, tag = 5 };

static int rank, size, failed;

static void expect(int right, const char* what, int round) {
  if (right) return;
  failed = 1;
  fprintf(stderr, "FAILED %s in round %d on rank %d\n", what, round, rank);
}

/* Ranks start one after the other: each waits, point to point, until the one before it has started. */
static void start_in_turn(int n, MPI_Request* requests) {
  int token = 0;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  n == 1 ? MPI_Start(requests) : MPI_Startall(n, requests);
  if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, tag, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long mine[count], sums[count], cast[count], before = 0, largest = 0;
  MPI_Request requests[4];
  MPI_Allreduce_init(mine, sums, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(cast, count, MPI_LONG, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      mine[i] = rank + i + round;
      cast[i] = rank == size - 1 ? round * i : -1;
    }
    int left = -1;
    if (round % 2) {
      start_in_turn(3, requests);
    } else {
      for (int i = 0; i < 3; ++i) start_in_turn(1, &requests[i]);
    }
    /* While all three are active. */
    MPI_Exscan(&mine[0], &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine[1], &largest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    expect(rank == 0 || before == (long)rank * round + rank * (rank - 1L) / 2, "exscan", round);
    expect(largest == size + round, "allreduce", round);
    MPI_Irecv(&left, 1, MPI_INT, (rank + size - 1) % size, tag + 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, tag + 1, MPI_COMM_WORLD);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    expect(left == (rank + size - 1) % size, "message", round);
    for (int i = 0; i < count; ++i) {
      expect(sums[i] == (long)size * (i + round) + size * (size - 1L) / 2, "persistent allreduce", round);
      expect(cast[i] == (long)round * i, "persistent bcast", round);
    }
  }
  for (int i = 0; i < 3; ++i) MPI_Request_free(&requests[i]);
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("persistent: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
