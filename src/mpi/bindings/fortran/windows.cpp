// Fortran's entry points that make and free windows. bindings/c/windows.hpp says why they are counted, and
// fortran.hpp which of Fortran's functions come here.
#include "generated/mpi/bindings/fortran/bodies.hpp"
#include "runtime/progress/progress_needs.hpp"

namespace espalier::mpi::fortran {
namespace {

/// Hands the call on to the host, and calls `count` if it has succeeded.
template <auto count, class... Pointers>
void make_or_free(const Names& names, Int* error, void* caller, Pointers... pointers) {
  resolve(caller);
  Int code = MPI_SUCCESS;
  forward(names, &code, pointers...);
  if (code == MPI_SUCCESS) count();
  set(error, code);
}

}  // namespace

void win_allocate(const Names& names, void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window,
                  Int* error, void* caller) {
  make_or_free<runtime::add_host_window>(names, error, caller, bytes, unit, info, comm, base, window);
}

void win_allocate_shared(const Names& names, void* bytes, Int* unit, Int* info, Int* comm, void* base,
                         Int* window, Int* error, void* caller) {
  win_allocate(names, bytes, unit, info, comm, base, window, error, caller);
}

void win_create_dynamic(const Names& names, Int* info, Int* comm, Int* window, Int* error, void* caller) {
  make_or_free<runtime::add_host_window>(names, error, caller, info, comm, window);
}

void win_free(const Names& names, Int* window, Int* error, void* caller) {
  make_or_free<runtime::remove_host_window>(names, error, caller, window);
}

#if ESPALIER_FORTRAN_CALLS_PMPI
void win_create(const Names& names, void* base, void* bytes, Int* unit, Int* info, Int* comm, Int* window,
                Int* error, void* caller) {
  make_or_free<runtime::add_host_window>(names, error, caller, base, bytes, unit, info, comm, window);
}
#endif

}  // namespace espalier::mpi::fortran
