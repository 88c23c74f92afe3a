// What Fortran's entry points of a process's and a communicator's life do, and of an operator's.
#include "generated/mpi/bindings/fortran/bodies.hpp"
#include "mpi/bindings/c/memory.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/initialise.hpp"
#include "mpi/lifetime/lifecycle.hpp"
#include "mpi/requests/held_operator.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::mpi::fortran {

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

void abort(const Names& names, Int* comm, Int* code, Int* error, void* caller) {
  if (resolve(caller) == Mode::active) lifecycle::abort_begins();
  forward(names, error, comm, code);
}

void comm_free(const Names& names, Int* comm, Int* error, void* caller) {
  if (!take(caller)) return forward(names, error, comm);
  const communicators::Retirement retirement(comm_handle(comm));
  forward(names, error, comm);
}

void comm_disconnect(const Names& names, Int* comm, Int* error, void* caller) {
  comm_free(names, comm, error, caller);
}

void op_free(const Names& names, Int* op, Int* error, void* caller) {
  if (!take(caller) || !held_operators::free_later(typed<MPI_Op>(op_handle(op))))
    return forward(names, error, op);
  *op = abi::fortran_op(host, host.constants.op_null);
  set(error, MPI_SUCCESS);
}

#if ESPALIER_FORTRAN_CALLS_PMPI
// Open MPI's Fortran functions take memory past MPI_Alloc_mem; but what C has allocated may come here to go.
void free_mem(const Names& names, void* base, Int* error, void* caller) {
  if (!take(caller) || !is_of_shared_heap(base)) return forward(names, error, base);
  set(error, free_shared(base));
}
#endif

}  // namespace espalier::mpi::fortran
