// The Fortran entry points whose libraries call PMPI directly, past the C ones: all of Open MPI's, and in
// MPICH and Intel MPI those of `use mpi_f08` that have no buffer. (Their others call the C functions, which
// are caught.)
//
// mpif.h and `use mpi` call mpi_x_ (or another spelling, by compiler). `use mpi_f08` calls mpi_x_f08_, whose
// handles are structures of one integer, passed by reference like integers, and whose last argument may be
// absent (null). So one body serves both.
#include "mpi/bindings/fortran/fortran.hpp"

#include "mpi/bindings/c/memory.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/initialise.hpp"
#include "mpi/lifetime/lifecycle.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::mpi::fortran {
namespace {

void init(const Names& names, Int* error, void* caller) {
  resolve(caller);
  initialise([&] {
    Int code = MPI_SUCCESS;
    forward(names, &code);
    set(error, code);
    return static_cast<int>(code);
  });
}

void init_thread(const Names& names, Int* required, Int* provided, Int* error, void* caller) {
  resolve(caller);
  initialise([&] {
    Int code = MPI_SUCCESS;
    forward(names, &code, required, provided);
    set(error, code);
    return static_cast<int>(code);
  });
}

void finalize(const Names& names, Int* error, void* caller) {
  if (resolve(caller) == Mode::active) lifecycle::finalize_begins();
  forward(names, error);
}

void abort_job(const Names& names, Int* comm, Int* code, Int* error, void* caller) {
  if (resolve(caller) == Mode::active) runtime::statistics::end_early("MPI_Abort was called");
  forward(names, error, comm, code);
}

void free_comm(const Names& names, Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, comm);
  const communicators::Retirement retirement(comm_handle(comm));
  forward(names, error, comm);
}

#if ESPALIER_FORTRAN_CALLS_PMPI
// Open MPI's Fortran functions take memory past MPI_Alloc_mem; but what C has allocated may come here to go.
void free_mem(const Names& names, void* base, Int* error, void* caller) {
  if (!take(caller) || !is_of_shared_heap(base)) return forward(names, error, base);
  set(error, free_shared(base));
}
#endif

void fortran_barrier(const Names& names, Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, comm);
  set(error, barrier({.comm = comm_handle(comm)}, caller));
}

}  // namespace

// clang-format off
ESPALIER_FORTRAN(mpi_init, MPI_INIT, (Int* error), init, error)
ESPALIER_FORTRAN(mpi_init_thread, MPI_INIT_THREAD, (Int* required, Int* provided, Int* error),
                 init_thread, required, provided, error)
ESPALIER_FORTRAN(mpi_finalize, MPI_FINALIZE, (Int* error), finalize, error)
ESPALIER_FORTRAN(mpi_abort, MPI_ABORT, (Int* comm, Int* code, Int* error), abort_job, comm, code, error)
ESPALIER_FORTRAN(mpi_comm_free, MPI_COMM_FREE, (Int* comm, Int* error), free_comm, comm, error)
ESPALIER_FORTRAN(mpi_comm_disconnect, MPI_COMM_DISCONNECT, (Int* comm, Int* error), free_comm, comm, error)
#if ESPALIER_FORTRAN_CALLS_PMPI
ESPALIER_FORTRAN(mpi_free_mem, MPI_FREE_MEM, (void* base, Int* error), free_mem, base, error)
#endif
ESPALIER_FORTRAN(mpi_barrier, MPI_BARRIER, (Int* comm, Int* error), fortran_barrier, comm, error)
// clang-format on

}  // namespace espalier::mpi::fortran
