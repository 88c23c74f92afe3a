/* A wrong program: ranks prepare persistent collectives that do not fit together; the argument says how. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  static int given[64], got[64];
  const MPI_Comm comm = MPI_COMM_WORLD;
  int rank, size;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const char* mistake = argc > 1 ? argv[1] : "";
  int odd = rank == 1; /* who does something else than all others */
  if (!strcmp(mistake, "lengths of allreduce"))
    MPI_Allreduce_init(given, got, 4 + odd, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  else if (!strcmp(mistake, "lengths of bcast"))
    MPI_Bcast_init(got, 4 + odd, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
  else if (!strcmp(mistake, "roots of bcast"))
    MPI_Bcast_init(got, 4, MPI_INT, odd, comm, MPI_INFO_NULL, &request);
  else if (!strcmp(mistake, "roots of reduce"))
    MPI_Reduce_init(given, got, 4, MPI_INT, MPI_SUM, odd, comm, MPI_INFO_NULL, &request);
  else if (!strcmp(mistake, "collectives"))
    odd ? MPI_Bcast_init(got, 4, MPI_INT, 0, comm, MPI_INFO_NULL, &request)
        : MPI_Allreduce_init(given, got, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  else
    return fprintf(stderr, "persistent_mistake: no mistake is called \"%s\"\n", mistake), 2;
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
