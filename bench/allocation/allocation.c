/* What MPI_Alloc_mem and MPI_Free_mem take together, of one block after the other: the host's (PMPI_) and
   Espalier's (MPI_) in turns. Bare, and with each page of the block written in between, as a program would. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAGE = 4096, MOST_ROUNDS = 1000 };

typedef int Allocate(MPI_Aint, MPI_Info, void*);
typedef int Free(void*);

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Microseconds of one pair, the mean of `pairs`. */
static double time_of(Allocate* allocate, Free* free_block, MPI_Aint bytes, int pairs, int writes) {
  const double begin = now_us();
  for (int pair = 0; pair < pairs; ++pair) {
    volatile char* block = NULL;
    if (allocate(bytes, MPI_INFO_NULL, &block) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    if (writes)
      for (MPI_Aint at = 0; at < bytes; at += PAGE) block[at] = 1;
    free_block((void*)block);
  }
  return (now_us() - begin) / pairs;
}

static int smaller(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, smaller);
  return values[count / 2];
}

static void measure(MPI_Aint bytes, int writes, int rounds) {
  static double host[MOST_ROUNDS], ours[MOST_ROUNDS];
  const int pairs = bytes > (1 << 20) && writes ? 2 : 200;
  for (int round = -1; round < rounds; ++round) { /* the first warms up */
    const double theirs = time_of(PMPI_Alloc_mem, PMPI_Free_mem, bytes, pairs, writes);
    const double own = time_of(MPI_Alloc_mem, MPI_Free_mem, bytes, pairs, writes);
    if (round < 0) continue;
    host[round] = theirs;
    ours[round] = own;
  }
  printf("{\"bytes\": %ld, \"written\": %s, \"host_us\": %.3f, \"espalier_us\": %.3f}\n", (long)bytes,
         writes ? "true" : "false", median(host, rounds), median(ours, rounds));
}

int main(int argc, char** argv) {
  const MPI_Aint sizes[] = {4096, 16384, 65536, 1 << 20, 16 << 20, 64 << 20};
  const int asked = argc > 1 ? atoi(argv[1]) : 21;
  const int rounds = asked < 1 ? 1 : asked > MOST_ROUNDS ? MOST_ROUNDS : asked;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) /* the others wait: what is measured is one process */
    for (int writes = 0; writes < 2; ++writes)
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) measure(sizes[i], writes, rounds);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
