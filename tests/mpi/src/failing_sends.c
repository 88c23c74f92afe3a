/* A library to preload behind Espalier's: the host's MPI_Isend fails while FAIL_SENDS is set in the program's environment, as
 * where a network breaks down. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (getenv("FAIL_SENDS")) return MPI_ERR_OTHER;
  int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  return next(data, count, type, to, tag, comm, request);
}
