/* Nonblocking scatters of blocks so long that the readers may copy them from the root's own buffer: what either side may
 * do in between, and that the root may write there again as soon as its request is complete. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three ranks and more. All readers but one, which may get nothing, get 16 MiB and more together: so they copy for
 * themselves also where ranks share cores. */
enum { ROOT = 1, NUMBERS = 2200000, TURNS = 3, AT_ONCE = 2 };

static int rank, ranks, wrong;
static int longest; /* block */

static double value(int reader, int i, int turn) { return reader * 1000 + i % 997 + turn * 7; }

static double* new_blocks(int turn) {
  if (rank != ROOT) return NULL;
  double* all = malloc(sizeof *all * (size_t)longest * (size_t)ranks);
  for (int reader = 0; reader < ranks; ++reader)
    for (int i = 0; i < longest; ++i) all[(size_t)reader * (size_t)longest + (size_t)i] = value(reader, i, turn);
  return all;
}
static double* new_block(void) { return calloc((size_t)longest, sizeof(double)); }

static void spoil(double* all) {
  if (all) memset(all, 0x55, sizeof *all * (size_t)longest * (size_t)ranks);
}

static void check(const char* what, const double* block, int count, int stride, int turn) {
  for (int i = 0; i < count; ++i)
    if (block[i * stride] != value(rank, i, turn)) {
      printf("rank %d, %s, turn %d: wrong number %d\n", rank, what, turn, i);
      ++wrong;
      return;
    }
}

/* The root waits for its scatter, and then sends what the others wait for before they complete theirs. */
static void root_first(int turn) {
  double *all = new_blocks(turn), *block = new_block();
  MPI_Request request;
  MPI_Iscatter(all, longest, MPI_DOUBLE, block, longest, MPI_DOUBLE, ROOT, MPI_COMM_WORLD, &request);
  if (rank == ROOT) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    spoil(all);
    for (int reader = 0; reader < ranks; ++reader)
      if (reader != ROOT) MPI_Send(NULL, 0, MPI_BYTE, reader, turn, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, ROOT, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  check("root first", block, longest, 1, turn);
  free(all);
  free(block);
}

/* The others complete theirs, and then send what the root waits for. */
static void root_last(int turn) {
  double *all = new_blocks(turn), *block = new_block();
  MPI_Request request;
  MPI_Iscatter(all, longest, MPI_DOUBLE, block, longest, MPI_DOUBLE, ROOT, MPI_COMM_WORLD, &request);
  if (rank == ROOT) {
    for (int reader = 0; reader < ranks; ++reader)
      if (reader != ROOT) MPI_Recv(NULL, 0, MPI_BYTE, reader, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    spoil(all);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, ROOT, turn, MPI_COMM_WORLD);
  }
  check("root last", block, longest, 1, turn);
  free(all);
  free(block);
}

/* Blocks of different lengths, of which one is empty, tested until they are there; some at a time. */
static void tested(int turn) {
  int *counts = malloc(sizeof *counts * (size_t)ranks), *begins = malloc(sizeof *begins * (size_t)ranks);
  for (int reader = 0; reader < ranks; ++reader) {
    counts[reader] = reader == 0 ? 0 : longest - reader * 11;
    begins[reader] = reader * longest;
  }
  double *all[AT_ONCE], *block[AT_ONCE];
  MPI_Request requests[AT_ONCE];
  for (int i = 0; i < AT_ONCE; ++i) {
    all[i] = new_blocks(turn + i);
    block[i] = new_block();
    MPI_Iscatterv(all[i], counts, begins, MPI_DOUBLE, block[i], counts[rank], MPI_DOUBLE, ROOT,
                  MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = AT_ONCE - 1; i >= 0; --i) {
    for (int done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    spoil(all[i]);
  }
  for (int i = 0; i < AT_ONCE; ++i) {
    check("tested", block[i], counts[rank], 1, turn + i);
    free(all[i]);
    free(block[i]);
  }
  free(counts);
  free(begins);
}

/* The root's block stays where it is; the others want theirs with gaps. */
static void with_gaps(int turn) {
  MPI_Datatype every_second;
  MPI_Type_vector(longest, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  double *all = new_blocks(turn), *block = calloc((size_t)longest * 2, sizeof *block);
  MPI_Request request;
  if (rank == ROOT)
    MPI_Iscatter(all, longest, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DOUBLE, ROOT, MPI_COMM_WORLD, &request);
  else
    MPI_Iscatter(NULL, 0, MPI_DOUBLE, block, 1, every_second, ROOT, MPI_COMM_WORLD, &request);
  MPI_Type_free(&every_second);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == ROOT)
    check("in place", all + (size_t)ROOT * (size_t)longest, longest, 1, turn);
  else
    check("with gaps", block, longest, 2, turn);
  spoil(all);
  free(all);
  free(block);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  longest = NUMBERS / (ranks - 2);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < TURNS; ++turn) {
    root_first(turn);
    root_last(turn);
    tested(turn);
    with_gaps(turn);
  }
  int all_wrong;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("exposed_scatter: %d failed\n", all_wrong);
  MPI_Finalize();
  return all_wrong != 0;
}
