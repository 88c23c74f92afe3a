// The Fortran entry points of the collectives with data, in the build for Open MPI: see fortran.cpp.
#include "mpi/collectives/collectives.hpp"
#include "mpi/bindings/fortran/fortran.hpp"

#if ESPALIER_FORTRAN_CALLS_PMPI
namespace espalier::mpi::fortran {
namespace {

using Reduction = int (*)(const Call&, void*);

void fortran_bcast(const Names& names, void* buffer, Int* count, Int* type, Int* root, Int* comm, Int* error,
                   void* caller) {
  if (!take(caller)) return forward(names, error, buffer, count, type, root, comm);
  set(error, bcast({.receive = c_address(buffer),
                    .count = *count,
                    .type = type_handle(type),
                    .root = *root,
                    .comm = comm_handle(comm)},
                   caller));
}

void fortran_reduce(const Names& names, void* send, void* receive, Int* count, Int* type, Int* op, Int* root,
                    Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, send, receive, count, type, op, root, comm);
  set(error, reduce({c_address(send), c_address(receive), *count, type_handle(type), op_handle(op), *root,
                     comm_handle(comm)},
                    caller));
}

/// Those without a root: allreduce, reduce_scatter_block, scan, exscan.
template <Reduction serve>
void fortran_reduction(const Names& names, void* send, void* receive, Int* count, Int* type, Int* op,
                       Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, send, receive, count, type, op, comm);
  set(error, serve({c_address(send), c_address(receive), *count, type_handle(type), op_handle(op), 0,
                    comm_handle(comm)},
                   caller));
}

void fortran_reduce_scatter(const Names& names, void* send, void* receive, Int* counts, Int* type, Int* op,
                            Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, send, receive, counts, type, op, comm);
  Call call = {c_address(send),  c_address(receive), 0, type_handle(type), op_handle(op), 0,
               comm_handle(comm)};
  call.counts = Numbers(counts);
  set(error, reduce_scatter(call, caller));
}

Part equal(void* buffer, Int* count, Int* type) {
  return equal_blocks(c_address(buffer), *count, type_handle(type));
}

Part unequal(void* buffer, Int* counts, Int* places, Int* type) {
  return unequal_blocks(c_address(buffer), Numbers(counts), Numbers(places), type_handle(type));
}

void fortran_allgather(const Names& names, void* send, Int* send_count, Int* send_type, void* receive,
                       Int* receive_count, Int* receive_type, Int* comm, Int* error, void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_count, send_type, receive, receive_count, receive_type, comm);
  set(error, allgather({equal(send, send_count, send_type), equal(receive, receive_count, receive_type), 0,
                        comm_handle(comm)},
                       caller));
}

void fortran_allgatherv(const Names& names, void* send, Int* send_count, Int* send_type, void* receive,
                        Int* receive_counts, Int* receive_places, Int* receive_type, Int* comm, Int* error,
                        void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_count, send_type, receive, receive_counts, receive_places,
                   receive_type, comm);
  set(error,
      allgatherv({equal(send, send_count, send_type),
                  unequal(receive, receive_counts, receive_places, receive_type), 0, comm_handle(comm)},
                 caller));
}

void fortran_gather(const Names& names, void* send, Int* send_count, Int* send_type, void* receive,
                    Int* receive_count, Int* receive_type, Int* root, Int* comm, Int* error, void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_count, send_type, receive, receive_count, receive_type, root,
                   comm);
  set(error, gather({equal(send, send_count, send_type), equal(receive, receive_count, receive_type), *root,
                     comm_handle(comm)},
                    caller));
}

void fortran_gatherv(const Names& names, void* send, Int* send_count, Int* send_type, void* receive,
                     Int* receive_counts, Int* receive_places, Int* receive_type, Int* root, Int* comm,
                     Int* error, void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_count, send_type, receive, receive_counts, receive_places,
                   receive_type, root, comm);
  set(error,
      gatherv({equal(send, send_count, send_type),
               unequal(receive, receive_counts, receive_places, receive_type), *root, comm_handle(comm)},
              caller));
}

void fortran_scatter(const Names& names, void* send, Int* send_count, Int* send_type, void* receive,
                     Int* receive_count, Int* receive_type, Int* root, Int* comm, Int* error, void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_count, send_type, receive, receive_count, receive_type, root,
                   comm);
  set(error, scatter({equal(send, send_count, send_type), equal(receive, receive_count, receive_type), *root,
                      comm_handle(comm)},
                     caller));
}

void fortran_scatterv(const Names& names, void* send, Int* send_counts, Int* send_places, Int* send_type,
                      void* receive, Int* receive_count, Int* receive_type, Int* root, Int* comm, Int* error,
                      void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_counts, send_places, send_type, receive, receive_count,
                   receive_type, root, comm);
  set(error, scatterv({unequal(send, send_counts, send_places, send_type),
                       equal(receive, receive_count, receive_type), *root, comm_handle(comm)},
                      caller));
}

void fortran_alltoall(const Names& names, void* send, Int* send_count, Int* send_type, void* receive,
                      Int* receive_count, Int* receive_type, Int* comm, Int* error, void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_count, send_type, receive, receive_count, receive_type, comm);
  set(error, alltoall({equal(send, send_count, send_type), equal(receive, receive_count, receive_type), 0,
                       comm_handle(comm)},
                      caller));
}

void fortran_alltoallv(const Names& names, void* send, Int* send_counts, Int* send_places, Int* send_type,
                       void* receive, Int* receive_counts, Int* receive_places, Int* receive_type, Int* comm,
                       Int* error, void* caller) {
  if (!take(caller))
    return forward(names, error, send, send_counts, send_places, send_type, receive, receive_counts,
                   receive_places, receive_type, comm);
  set(error, alltoallv({unequal(send, send_counts, send_places, send_type),
                        unequal(receive, receive_counts, receive_places, receive_type), 0, comm_handle(comm)},
                       caller));
}

}  // namespace

ESPALIER_FORTRAN(mpi_bcast, MPI_BCAST,
                 (void* buffer, Int* count, Int* type, Int* root, Int* comm, Int* error), fortran_bcast,
                 buffer, count, type, root, comm, error)
ESPALIER_FORTRAN(mpi_reduce, MPI_REDUCE,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* root, Int* comm,
                  Int* error),
                 fortran_reduce, send, receive, count, type, op, root, comm, error)
ESPALIER_FORTRAN(mpi_allreduce, MPI_ALLREDUCE,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* comm, Int* error),
                 fortran_reduction<allreduce>, send, receive, count, type, op, comm, error)
ESPALIER_FORTRAN(mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* comm, Int* error),
                 fortran_reduction<reduce_scatter_block>, send, receive, count, type, op, comm, error)
ESPALIER_FORTRAN(mpi_scan, MPI_SCAN,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* comm, Int* error),
                 fortran_reduction<scan>, send, receive, count, type, op, comm, error)
ESPALIER_FORTRAN(mpi_exscan, MPI_EXSCAN,
                 (void* send, void* receive, Int* count, Int* type, Int* op, Int* comm, Int* error),
                 fortran_reduction<exscan>, send, receive, count, type, op, comm, error)
ESPALIER_FORTRAN(mpi_reduce_scatter, MPI_REDUCE_SCATTER,
                 (void* send, void* receive, Int* counts, Int* type, Int* op, Int* comm, Int* error),
                 fortran_reduce_scatter, send, receive, counts, type, op, comm, error)
ESPALIER_FORTRAN(mpi_allgather, MPI_ALLGATHER,
                 (void* send, Int* send_count, Int* send_type, void* receive, Int* receive_count,
                  Int* receive_type, Int* comm, Int* error),
                 fortran_allgather, send, send_count, send_type, receive, receive_count, receive_type, comm,
                 error)
ESPALIER_FORTRAN(mpi_allgatherv, MPI_ALLGATHERV,
                 (void* send, Int* send_count, Int* send_type, void* receive, Int* receive_counts,
                  Int* receive_places, Int* receive_type, Int* comm, Int* error),
                 fortran_allgatherv, send, send_count, send_type, receive, receive_counts, receive_places,
                 receive_type, comm, error)
ESPALIER_FORTRAN(mpi_gather, MPI_GATHER,
                 (void* send, Int* send_count, Int* send_type, void* receive, Int* receive_count,
                  Int* receive_type, Int* root, Int* comm, Int* error),
                 fortran_gather, send, send_count, send_type, receive, receive_count, receive_type, root,
                 comm, error)
ESPALIER_FORTRAN(mpi_gatherv, MPI_GATHERV,
                 (void* send, Int* send_count, Int* send_type, void* receive, Int* receive_counts,
                  Int* receive_places, Int* receive_type, Int* root, Int* comm, Int* error),
                 fortran_gatherv, send, send_count, send_type, receive, receive_counts, receive_places,
                 receive_type, root, comm, error)
ESPALIER_FORTRAN(mpi_scatter, MPI_SCATTER,
                 (void* send, Int* send_count, Int* send_type, void* receive, Int* receive_count,
                  Int* receive_type, Int* root, Int* comm, Int* error),
                 fortran_scatter, send, send_count, send_type, receive, receive_count, receive_type, root,
                 comm, error)
ESPALIER_FORTRAN(mpi_scatterv, MPI_SCATTERV,
                 (void* send, Int* send_counts, Int* send_places, Int* send_type, void* receive,
                  Int* receive_count, Int* receive_type, Int* root, Int* comm, Int* error),
                 fortran_scatterv, send, send_counts, send_places, send_type, receive, receive_count,
                 receive_type, root, comm, error)
ESPALIER_FORTRAN(mpi_alltoall, MPI_ALLTOALL,
                 (void* send, Int* send_count, Int* send_type, void* receive, Int* receive_count,
                  Int* receive_type, Int* comm, Int* error),
                 fortran_alltoall, send, send_count, send_type, receive, receive_count, receive_type, comm,
                 error)
ESPALIER_FORTRAN(mpi_alltoallv, MPI_ALLTOALLV,
                 (void* send, Int* send_counts, Int* send_places, Int* send_type, void* receive,
                  Int* receive_counts, Int* receive_places, Int* receive_type, Int* comm, Int* error),
                 fortran_alltoallv, send, send_counts, send_places, send_type, receive, receive_counts,
                 receive_places, receive_type, comm, error)

}  // namespace espalier::mpi::fortran

#endif
