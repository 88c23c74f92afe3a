/* Each job spawns one child, whose MPI_COMM_WORLD has one rank although the parents' job has several. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, child;
  MPI_Comm_get_parent(&parent);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%s: world of %d\n", parent == MPI_COMM_NULL ? "parents" : "child", size);
  fflush(stdout);
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
  else
    child = parent;
  MPI_Barrier(child);
  MPI_Comm_disconnect(&child);
  MPI_Finalize();
}
