// Stands in for the interposer: hands every call to the host, or (LIE defined) gets each of them wrong.
#define _GNU_SOURCE
#include <mpi.h>

#ifdef LIE
int MPI_Barrier(MPI_Comm comm) { return MPI_SUCCESS; }
int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) { return MPI_SUCCESS; }
#define SPOIL (((double*)out)[n - 1] += 1)
#else
int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(comm); }
int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  return PMPI_Bcast(data, n, type, root, comm);
}
#define SPOIL ((void)0)
#endif

int MPI_Reduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const int code = PMPI_Reduce(in, out, n, type, op, root, comm);
  SPOIL;
  return code;
}

int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Allreduce(in, out, n, type, op, comm);
  SPOIL;
  return code;
}
