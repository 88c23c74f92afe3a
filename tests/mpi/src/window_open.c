/* All ranks but the last wait in a barrier while that one computes: first without a window, then with one of each kind.
 *
 *   window_open KIND     KIND: none, create, allocate, shared, dynamic or freed
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static int memory[8];
  void* base;
  MPI_Win window = MPI_WIN_NULL;
  const char* kind = argc > 1 ? argv[1] : "none";
  if (!strcmp(kind, "create") || !strcmp(kind, "freed"))
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (!strcmp(kind, "allocate"))
    MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (!strcmp(kind, "shared"))
    MPI_Win_allocate_shared(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (!strcmp(kind, "dynamic")) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (!strcmp(kind, "freed")) MPI_Win_free(&window);
  MPI_Barrier(MPI_COMM_WORLD); /* the first collective of a communicator waits in the host, too */
  const struct timespec late = {0, 100000000};
  if (rank == size - 1) nanosleep(&late, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  if (rank == 0) printf("window_open, %s: 0 failed\n", kind);
  fflush(stdout);
  MPI_Finalize();
}
