/* Many communicators, of which as many live at a time: many_communicators [all] [living]. Each is used when it is made, and once more
   just before it is freed. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int rank, wrong;

static void make(MPI_Comm* comm, int number) {
  if (number % 3 == 0)
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
  else
    MPI_Comm_split(MPI_COMM_WORLD, number % 3 == 1 ? rank % 2 : 0, number % 2 ? rank : -rank, comm);
}

static void use(MPI_Comm comm, int number) {
  int size, me, sum = -1, told;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  int value = me + number;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  told = me == number % size ? number : -1;
  MPI_Bcast(&told, 1, MPI_INT, number % size, comm);
  wrong += sum != size * number + size * (size - 1) / 2 || told != number;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int all = argc > 1 ? atoi(argv[1]) : 5000, living = argc > 2 ? atoi(argv[2]) : 1000, sum = 0;
  MPI_Comm* comms = malloc((size_t)living * sizeof(MPI_Comm));
  for (int number = 0; number < all + living; ++number) {
    MPI_Comm* place = &comms[number % living];
    if (number >= living && number - living < all) {
      use(*place, number - living);
      MPI_Comm_free(place);
    }
    if (number < all) {
      make(place, number);
      use(*place, number);
    }
  }
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("many_communicators: %d, %d at a time, %d failed\n", all, living, sum);
  free(comms);
  MPI_Finalize();
  return wrong != 0;
}
