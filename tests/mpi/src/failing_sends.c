/* A library to preload behind Espalier's: the host's MPI_Isend fails while FAIL_SENDS is set in the program's environment, as
 * where a network breaks down; `once`: it fails once; `host`: it fails once, and the host calls its error handler. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const char* how = getenv("FAIL_SENDS");
  const int by_host = how && strcmp(how, "host") == 0;
  if (by_host || (how && strcmp(how, "once") == 0)) unsetenv("FAIL_SENDS");
  if (how && !by_host) return MPI_ERR_OTHER;
  if (by_host) to = 1 << 20; /* a rank that does not exist */
  int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  return next(data, count, type, to, tag, comm, request);
}
