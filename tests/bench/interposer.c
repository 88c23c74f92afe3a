// Stands in for the interposer: hands every call to the host, or (LIE defined) gets each of them wrong.
#define _GNU_SOURCE
#include <mpi.h>

#ifdef LIE
#define CALL(call) MPI_SUCCESS
#define SPOIL(out, n) (((double*)(out))[(n) - 1] += 1)
#else
#define CALL(call) call
#define SPOIL(out, n) ((void)0)
#endif

static int rank_of(MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

static int size_of(MPI_Comm comm) {
  int size;
  PMPI_Comm_size(comm, &size);
  return size;
}

int MPI_Bcast_init(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
                   MPI_Request* request) {
  return PMPI_Bcast_init(data, n, type, root, comm, info, request);
}

// With LIE nothing happens, and the wait of a request that rests is over at once.
int MPI_Start(MPI_Request* request) { return CALL(PMPI_Start(request)); }

int MPI_Barrier(MPI_Comm comm) { return CALL(PMPI_Barrier(comm)); }

int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  return CALL(PMPI_Bcast(data, n, type, root, comm));
}

int MPI_Reduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const int code = PMPI_Reduce(in, out, n, type, op, root, comm);
  SPOIL(out, n);
  return code;
}

int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Allreduce(in, out, n, type, op, comm);
  SPOIL(out, n);
  return code;
}

int MPI_Scan(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Scan(in, out, n, type, op, comm);
  SPOIL(out, n);
  return code;
}

int MPI_Exscan(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Exscan(in, out, n, type, op, comm);
  SPOIL(out, n);
  return code;
}

int MPI_Allgather(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm comm) {
  const int code = PMPI_Allgather(in, n, t, out, m, u, comm);
  SPOIL(out, m * size_of(comm));
  return code;
}

int MPI_Allgatherv(const void* in, int n, MPI_Datatype t, void* out, const int* m, const int* at,
                   MPI_Datatype u, MPI_Comm comm) {
  const int code = PMPI_Allgatherv(in, n, t, out, m, at, u, comm);
  SPOIL(out, at[size_of(comm) - 1] + m[size_of(comm) - 1]);
  return code;
}

int MPI_Gather(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, int root,
               MPI_Comm comm) {
  const int code = PMPI_Gather(in, n, t, out, m, u, root, comm);
  SPOIL(out, m * size_of(comm));
  return code;
}

int MPI_Gatherv(const void* in, int n, MPI_Datatype t, void* out, const int* m, const int* at, MPI_Datatype u,
                int root, MPI_Comm comm) {
  const int code = PMPI_Gatherv(in, n, t, out, m, at, u, root, comm);
  if (rank_of(comm) == root) SPOIL(out, at[size_of(comm) - 1] + m[size_of(comm) - 1]);
  return code;
}

int MPI_Scatter(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, int root,
                MPI_Comm comm) {
  const int code = PMPI_Scatter(in, n, t, out, m, u, root, comm);
  SPOIL(out, m);
  return code;
}

int MPI_Scatterv(const void* in, const int* n, const int* at, MPI_Datatype t, void* out, int m,
                 MPI_Datatype u, int root, MPI_Comm comm) {
  const int code = PMPI_Scatterv(in, n, at, t, out, m, u, root, comm);
  SPOIL(out, m);
  return code;
}

// With LIE the block for the right neighbour goes to all ranks: right values, wrong receiver.
int MPI_Alltoall(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm comm) {
#ifdef LIE
  const int right = (rank_of(comm) + 1) % size_of(comm);
  return PMPI_Allgather((const double*)in + right * n, n, t, out, m, u, comm);
#else
  return PMPI_Alltoall(in, n, t, out, m, u, comm);
#endif
}

int MPI_Alltoallv(const void* in, const int* n, const int* from, MPI_Datatype t, void* out, const int* m,
                  const int* at, MPI_Datatype u, MPI_Comm comm) {
  const int code = PMPI_Alltoallv(in, n, from, t, out, m, at, u, comm);
  SPOIL(out, at[size_of(comm) - 1] + m[size_of(comm) - 1]);
  return code;
}

int MPI_Reduce_scatter_block(const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Reduce_scatter_block(in, out, n, t, op, comm);
  SPOIL(out, n);
  return code;
}

int MPI_Reduce_scatter(const void* in, void* out, const int* n, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Reduce_scatter(in, out, n, t, op, comm);
  SPOIL(out, n[rank_of(comm)]);
  return code;
}

int MPI_Alltoallw(const void* in, const int* n, const int* from, const MPI_Datatype* t, void* out,
                  const int* m, const int* at, const MPI_Datatype* u, MPI_Comm comm) {
  const int code = PMPI_Alltoallw(in, n, from, t, out, m, at, u, comm);
  SPOIL(out, at[size_of(comm) - 1] / (int)sizeof(double) + m[size_of(comm) - 1]);
  return code;
}

// On a ring: two edges. With LIE what comes from the rank above is wrong.
int MPI_Neighbor_allgather(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                           MPI_Comm comm) {
  const int code = PMPI_Neighbor_allgather(in, n, t, out, m, u, comm);
  SPOIL(out, 2 * m);
  return code;
}

int MPI_Neighbor_allgatherv(const void* in, int n, MPI_Datatype t, void* out, const int* m, const int* at,
                            MPI_Datatype u, MPI_Comm comm) {
  const int code = PMPI_Neighbor_allgatherv(in, n, t, out, m, at, u, comm);
  SPOIL(out, at[1] + m[1]);
  return code;
}

// With LIE both neighbours get the first block: right values, wrong receiver.
int MPI_Neighbor_alltoall(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                          MPI_Comm comm) {
#ifdef LIE
  return PMPI_Neighbor_allgather(in, n, t, out, m, u, comm);
#else
  return PMPI_Neighbor_alltoall(in, n, t, out, m, u, comm);
#endif
}

int MPI_Neighbor_alltoallv(const void* in, const int* n, const int* from, MPI_Datatype t, void* out,
                           const int* m, const int* at, MPI_Datatype u, MPI_Comm comm) {
  const int code = PMPI_Neighbor_alltoallv(in, n, from, t, out, m, at, u, comm);
  SPOIL(out, at[1] + m[1]);
  return code;
}

int MPI_Neighbor_alltoallw(const void* in, const int* n, const MPI_Aint* from, const MPI_Datatype* t,
                           void* out, const int* m, const MPI_Aint* at, const MPI_Datatype* u,
                           MPI_Comm comm) {
  const int code = PMPI_Neighbor_alltoallw(in, n, from, t, out, m, at, u, comm);
  SPOIL(out, at[1] / (MPI_Aint)sizeof(double) + m[1]);
  return code;
}
