/* Prints how many ranks the world has. With an argument: runs that command from each rank first. ALONE_FORGETS names a
   variable that it removes before MPI_Init. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (getenv("ALONE_FORGETS")) unsetenv(getenv("ALONE_FORGETS"));
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && system(argv[1]) != 0) return 1;
  printf("world of %d\n", size);
  MPI_Finalize();
}
