/* Allgathers of blocks that grow and shrink: allgather_sizes BYTES... */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static unsigned char value(int rank, int round, size_t i) {
  return (unsigned char)(rank * 37 + round * 11 + i * 7 + i / 251);
}

static int wrong_blocks(int round, size_t bytes) {
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char* own = malloc(bytes);
  unsigned char* all = calloc((size_t)size, bytes);
  for (size_t i = 0; i < bytes; ++i) own[i] = value(rank, round, i);
  MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r)
    for (size_t i = 0; i < bytes; ++i) wrong += all[(size_t)r * bytes + i] != value(r, round, i);
  free(own);
  free(all);
  return wrong;
}

int main(int argc, char** argv) {
  int rank, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 1; round < argc; ++round) failed += wrong_blocks(round, (size_t)atol(argv[round])) != 0;
  if (failed) fprintf(stderr, "FAILED on rank %d\n", rank);
  if (rank == 0) printf("allgather_sizes: %d failed\n", failed);
  MPI_Finalize();
  return failed != 0;
}
