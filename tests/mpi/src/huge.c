/* Every collective with more than 2^31 elements and bytes: huge blocking|nonblocking|persistent. Two ranks; 12 GiB at most in all, and
   what the host takes for itself. Wants the forms with MPI_Count (MPI 4). */
#define _GNU_SOURCE
#include "huge/cases.h"

#include <stdlib.h>

static uint8_t* reserve(void) {
  void* place = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    perror("huge: mmap");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return place;
}

int main(int argc, char** argv) {
  int size, ends[1] = {MANY}, none[1] = {0}, all = 0;
  MPI_Comm line;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != MANY || argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  form = argv[1][0] == 'b' ? BLOCKING : argv[1][0] == 'n' ? NONBLOCKING : PERSISTENT;
  mine = reserve();
  result = reserve();
  for (int i = 0; i < MANY; ++i) {
    pattern_of(&of_rank[i], i);
    pattern_add(&of_all, &of_rank[i]);
  }
  rooted(MPI_COMM_WORLD);
  reductions(MPI_COMM_WORLD);
  all_to_all(MPI_COMM_WORLD);
  MPI_Cart_create(MPI_COMM_WORLD, 1, ends, none, 0, &line);
  neighbours(line);
  MPI_Comm_free(&line);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("huge: %d %s calls of %lld elements, %d failed\n", cases, argv[1], (long long)more, all);
  MPI_Finalize();
  return wrong ? 1 : 0;
}
