/* A profiler as tools write them: it wraps some MPI functions, counts their calls, and goes on by the PMPI name or, with
   PROFILER_NEXT=1, to the next library that has the MPI name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define GO_ON(name) \
  (getenv("PROFILER_NEXT") ? (__typeof__(&PMPI_##name))dlsym(RTLD_NEXT, "MPI_" #name) : &PMPI_##name)

static int initialised, sends, allreduces, barriers, nonblocking;

int MPI_Init(int* argc, char*** argv) {
  ++initialised;
  return GO_ON(Init)(argc, argv);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return GO_ON(Send)(data, count, type, to, tag, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  return GO_ON(Allreduce)(in, out, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return GO_ON(Barrier)(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++nonblocking;
  return GO_ON(Ibarrier)(comm, request);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("profiler: init %d, send %d, allreduce %d, barrier %d, ibarrier %d\n", initialised, sends, allreduces,
           barriers, nonblocking);
  fflush(stdout);
  return GO_ON(Finalize)();
}
