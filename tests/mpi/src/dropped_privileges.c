/* A program whose ranks give up privileges between long collectives, as servers and sandboxes do after their start: from
 * then on no rank may look into another's memory, which long collectives do where they can. Every result is checked.
 *
 * dropped_privileges HOW WHO [allocated]: HOW is `user` (setuid to another one), `dumpable` (with that user's rights), or
 * `host` (something outside the program refuses); WHO is a rank, `all` or `none`. `allocated`: the buffers are of
 * MPI_Alloc_mem, and privileges are given up before anything was read there. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { most = 4 << 20, rounds = 6 };
static int rank, ranks;

static void give_up(const char* how, const char* who) {
  if (strcmp(who, "none") == 0 || (strcmp(who, "all") != 0 && atoi(who) != rank)) return;
  if (strcmp(how, "host") == 0) setenv("REFUSE_READS", "1", 1);
  if (strcmp(how, "host") != 0 && setuid(65534) != 0) perror("setuid");
  if (strcmp(how, "dumpable") == 0) prctl(PR_SET_DUMPABLE, 0);
}

static int value(int from, int to, size_t i, int round) { return (int)(i * 7 + (size_t)(from * 1009 + to * 31 + round)); }

static void fill(int* block, size_t count, int from, int to, int round) {
  for (size_t i = 0; i < count; ++i) block[i] = value(from, to, i, round);
}

static void check(const int* block, size_t count, int from, int to, int round, const char* call) {
  for (size_t i = 0; i < count; ++i)
    if (block[i] != value(from, to, i, round)) {
      printf("rank %d: %s of %zu ints, round %d, is wrong at %zu of rank %d's\n", rank, call, count, round, i, from);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void check_sum(const int* sum, size_t count, int round, const char* call) {
  for (size_t i = 0; i < count; ++i) {
    int wanted = 0;
    for (int r = 0; r < ranks; ++r) wanted += value(r, 0, i, round);
    if (sum[i] == wanted) continue;
    printf("rank %d: %s of %zu ints, round %d, is wrong at %zu\n", rank, call, count, round, i);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* Blocks of `count` for and from all ranks lie in `send` and `receive`. */
static void rooted(int* send, int* receive, size_t count, int root, int round) {
  const int n = (int)count;
  fill(send, count, rank, 0, round);
  MPI_Bcast(send, n, MPI_INT, root, MPI_COMM_WORLD);
  check(send, count, root, 0, round, "bcast");
  fill(send, count, rank, 0, round);
  MPI_Gather(send, n, MPI_INT, receive, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < ranks && rank == root; ++r) check(receive + (size_t)r * count, count, r, 0, round, "gather");
  for (int r = 0; r < ranks; ++r) fill(send + (size_t)r * count, count, rank, r, round);
  MPI_Scatter(send, n, MPI_INT, receive, n, MPI_INT, root, MPI_COMM_WORLD);
  check(receive, count, root, rank, round, "scatter");
  int counts[64], places[64];
  for (int r = 0; r < ranks; ++r) counts[r] = n, places[r] = r * n;
  fill(send, count, rank, 0, round);
  MPI_Gatherv(send, n, MPI_INT, receive, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < ranks && rank == root; ++r) check(receive + places[r], count, r, 0, round, "gatherv");
  for (int r = 0; r < ranks; ++r) fill(send + places[r], count, rank, r, round);
  MPI_Scatterv(send, counts, places, MPI_INT, receive, n, MPI_INT, root, MPI_COMM_WORLD);
  check(receive, count, root, rank, round, "scatterv");
}

static void exchanged(int* send, int* receive, size_t count, int round) {
  const int n = (int)count;
  int counts[64], places[64];
  for (int r = 0; r < ranks; ++r) counts[r] = n, places[r] = r * n;
  fill(send, count, rank, 0, round);
  MPI_Allgather(send, n, MPI_INT, receive, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(receive + places[r], count, r, 0, round, "allgather");
  MPI_Allgatherv(send, n, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(receive + places[r], count, r, 0, round, "allgatherv");
  for (int r = 0; r < ranks; ++r) fill(send + places[r], count, rank, r, round);
  MPI_Alltoall(send, n, MPI_INT, receive, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(receive + places[r], count, r, rank, round, "alltoall");
  MPI_Alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(receive + places[r], count, r, rank, round, "alltoallv");
}

static void reduced(int* send, int* receive, size_t count, int round) {
  const int n = (int)count;
  fill(send, count, rank, 0, round);
  MPI_Allreduce(send, receive, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sum(receive, count, round, "allreduce");
  MPI_Allreduce(MPI_IN_PLACE, send, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sum(send, count, round, "allreduce in place");
  for (int r = 0; r < ranks; ++r) fill(send + (size_t)r * count, count, rank, 0, round);
  MPI_Reduce_scatter_block(send, receive, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sum(receive, count, round, "reduce_scatter_block");
  MPI_Request request;
  MPI_Allreduce_init(send, receive, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    memset(receive, 0, count * sizeof *receive);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(receive, count, round, "persistent allreduce");
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *send, *receive;
  const int allocated = argc > 3 && strcmp(argv[3], "allocated") == 0;
  if (allocated) {
    MPI_Alloc_mem((MPI_Aint)most * ranks, MPI_INFO_NULL, &send);
    MPI_Alloc_mem((MPI_Aint)most * ranks, MPI_INFO_NULL, &receive);
  } else {
    send = malloc((size_t)most * (size_t)ranks);
    receive = malloc((size_t)most * (size_t)ranks);
  }
  for (int round = 0; round < rounds; ++round) {
    const size_t count = ((size_t)256 << 10 << (round % 3)) / sizeof *send / (round < 3 ? 1 : 2) + (size_t)round;
    if (round == (allocated ? 0 : 2)) give_up(argv[1], argv[2]); /* without a word to the others */
    rooted(send, receive, count, round % ranks, round);
    exchanged(send, receive, count, round);
    reduced(send, receive, count, round);
  }
  if (allocated) MPI_Free_mem(send), MPI_Free_mem(receive);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("all right\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
