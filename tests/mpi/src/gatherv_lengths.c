/* A wrong program: gatherv_lengths SENT EXPECTED. Of rank 1, which sends so many bytes, the root of a nonblocking gatherv
   expects another number. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "gatherv_lengths SENT EXPECTED\n"), 2;
  const int sent = atoi(argv[1]), expected = atoi(argv[2]);
  const int counts[2] = {0, expected}, places[2] = {0, 0};
  char* data = calloc((size_t)(sent > expected ? sent : expected), 1);
  int rank;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Igatherv(data, rank ? sent : 0, MPI_BYTE, data, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  free(data);
  return 0;
}
