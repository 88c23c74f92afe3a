/* Messages beyond 2^31 bytes, checked in full: bcast of bytes, of a large contiguous type, allgather and
   gatherv, and allreduce of doubles. large [gibibytes-of-a-buffer, may be a fraction; default 2.25] Two
   buffers per rank at most: 2 ranks at 2.25 take 9 GiB, and what the MPI adds. */
#include <mpi.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static long failures;

static uint64_t mixed(uint64_t seed, uint64_t element) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + element * 0xda942042e4dd58b5u;
  return (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
}

static void fill(uint64_t* words, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) words[i] = mixed(seed, i);
}

static void check(const uint64_t* words, size_t count, uint64_t seed, const char* what) {
  for (size_t i = 0; i < count; ++i)
    if (words[i] != mixed(seed, i)) {
      fprintf(stderr, "FAILED %s, rank %d, word %zu of %zu: expected %" PRIx64 ", got %" PRIx64 "\n", what,
              rank, i, count, mixed(seed, i), words[i]);
      ++failures;
      return;
    }
}

/* One item as long as the whole message: its size does not fit in an int. */
static void bcast_of_one_item(uint64_t* words, size_t count, int root) {
  MPI_Datatype mebibyte, all;
  MPI_Type_contiguous(1 << 17, MPI_UINT64_T, &mebibyte);
  MPI_Type_contiguous((int)(count >> 17), mebibyte, &all);
  MPI_Type_commit(&all);
  fill(words, count, rank == root ? 11 : 12);
  MPI_Bcast(words, 1, all, root, MPI_COMM_WORLD);
  check(words, count, 11, "bcast of one large contiguous item");
  MPI_Type_free(&all);
  MPI_Type_free(&mebibyte);
}

/* Few mebibytes-long items at the root, the same message as plain words elsewhere. */
static void bcast_of_unlike_counts(uint64_t* words, size_t count, int root) {
  MPI_Datatype mebibyte;
  MPI_Type_contiguous(1 << 17, MPI_UINT64_T, &mebibyte);
  MPI_Type_commit(&mebibyte);
  fill(words, count, rank == root ? 21 : 22);
  if (rank == root)
    MPI_Bcast(words, (int)(count >> 17), mebibyte, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(words, (int)count, MPI_UINT64_T, root, MPI_COMM_WORLD);
  check(words, count, 21, "bcast of unlike counts");
  MPI_Type_free(&mebibyte);
}

static void bcast_of_bytes(uint64_t* words, size_t count, int root) {
#if MPI_VERSION >= 4
  fill(words, count, rank == root ? 31 : 32);
  MPI_Bcast_c(words, (MPI_Count)(8 * count), MPI_BYTE, root, MPI_COMM_WORLD);
  check(words, count, 31, "MPI_Bcast_c of bytes");
#endif
}

static double number(int of, size_t i) { return (double)((i * 2654435761u + (size_t)of * 40503u) % 100003); }

static void allreduce(double* send, double* receive, size_t count, const char* what) {
  for (size_t i = 0; i < count; ++i) send[i] = number(rank, i);
  MPI_Allreduce(send == receive ? MPI_IN_PLACE : send, receive, (int)count, MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  for (size_t i = 0; i < count; ++i) {
    double expected = 0;
    for (int other = 0; other < size; ++other) expected += number(other, i);
    if (receive[i] != expected) {
      fprintf(stderr, "FAILED %s, rank %d, element %zu of %zu: expected %g, got %g\n", what, rank, i, count,
              expected, receive[i]);
      ++failures;
      return;
    }
  }
}

/* Blocks of half the message, sent as words and received as mebibytes. */
static void allgather(const uint64_t* send, uint64_t* words, size_t block) {
  MPI_Datatype mebibyte;
  MPI_Type_contiguous(1 << 17, MPI_UINT64_T, &mebibyte);
  MPI_Type_commit(&mebibyte);
  MPI_Allgather(send, (int)block, MPI_UINT64_T, words, (int)(block >> 17), mebibyte, MPI_COMM_WORLD);
  MPI_Type_free(&mebibyte);
}

/* The same blocks in reverse, from mebibytes whose displacements in bytes do not fit in an int. */
static void gatherv(const uint64_t* send, uint64_t* words, size_t block, int root) {
  MPI_Datatype mebibyte;
  MPI_Type_contiguous(1 << 17, MPI_UINT64_T, &mebibyte);
  MPI_Type_commit(&mebibyte);
  int counts[64], places[64];
  for (int i = 0; i < size; ++i) {
    counts[i] = (int)(block >> 17);
    places[i] = (size - 1 - i) * counts[i];
  }
  MPI_Gatherv(send, (int)block, MPI_UINT64_T, words, counts, places, mebibyte, root, MPI_COMM_WORLD);
  MPI_Type_free(&mebibyte);
}

static void blocks(uint64_t* send, uint64_t* words, size_t count) {
  size_t block = (count / (size_t)size) >> 17 << 17;
  if (block == 0) return;
  fill(send, block, (uint64_t)(41 + rank));
  allgather(send, words, block);
  for (int i = 0; i < size; ++i)
    check(words + (size_t)i * block, block, (uint64_t)(41 + i), "allgather");
  gatherv(send, words, block, size - 1);
  for (int i = 0; rank == size - 1 && i < size; ++i)
    check(words + (size_t)(size - 1 - i) * block, block, (uint64_t)(41 + i), "gatherv");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double gibibytes = argc > 1 ? atof(argv[1]) : 2.25;
  size_t mebibytes = (size_t)(gibibytes * 1024), count = mebibytes << 17;
  uint64_t* words = malloc(8 * count);
  double* more = malloc(8 * count);
  if (!words || !more) {
    fprintf(stderr, "large: no memory for two buffers of %zu MiB\n", mebibytes);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  bcast_of_one_item(words, count, size - 1);
  bcast_of_unlike_counts(words, count, 0);
  bcast_of_bytes(words, count, size - 1);
  blocks((uint64_t*)more, words, count);
  allreduce((double*)words, more, count, "allreduce");
  allreduce((double*)words, (double*)words, count, "allreduce in place");
  long all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("large: messages of %zu MiB, %ld failed\n", mebibytes, all);
  free(words);
  free(more);
  MPI_Finalize();
  return failures ? 1 : 0;
}
