// The Fortran entry points that make and free windows: see windows.cpp, and fortran.cpp, which says
// which languages come here.
#include "mpi/bindings/fortran/fortran.hpp"
#include "runtime/process/progress_needs.hpp"

namespace espalier::mpi::fortran {
namespace {

/// Hands the call on, and then counts.
template <auto count, class... Pointers>
void window(const Names& names, Int* error, void* caller, Pointers... pointers) {
  resolve(caller);
  Int code = MPI_SUCCESS;
  forward(names, &code, pointers...);
  if (code == MPI_SUCCESS) count();
  set(error, code);
}

void win_allocate(const Names& names, void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* made,
                  Int* error, void* caller) {
  window<runtime::add_host_window>(names, error, caller, bytes, unit, info, comm, base, made);
}

void win_create_dynamic(const Names& names, Int* info, Int* comm, Int* made, Int* error, void* caller) {
  window<runtime::add_host_window>(names, error, caller, info, comm, made);
}

void win_free(const Names& names, Int* freed, Int* error, void* caller) {
  window<runtime::remove_host_window>(names, error, caller, freed);
}

#if ESPALIER_FORTRAN_CALLS_PMPI
void win_create(const Names& names, void* base, void* bytes, Int* unit, Int* info, Int* comm, Int* made,
                Int* error, void* caller) {
  window<runtime::add_host_window>(names, error, caller, base, bytes, unit, info, comm, made);
}
#endif

}  // namespace

// clang-format off
ESPALIER_FORTRAN(mpi_win_allocate, MPI_WIN_ALLOCATE,
                 (void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window, Int* error),
                 win_allocate, bytes, unit, info, comm, base, window, error)
ESPALIER_FORTRAN(mpi_win_allocate_shared, MPI_WIN_ALLOCATE_SHARED,
                 (void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window, Int* error),
                 win_allocate, bytes, unit, info, comm, base, window, error)
ESPALIER_FORTRAN(mpi_win_create_dynamic, MPI_WIN_CREATE_DYNAMIC, (Int* info, Int* comm, Int* window, Int* error),
                 win_create_dynamic, info, comm, window, error)
ESPALIER_FORTRAN(mpi_win_free, MPI_WIN_FREE, (Int* window, Int* error), win_free, window, error)
#if ESPALIER_FORTRAN_CALLS_PMPI
// Without a form for `use mpi_f08` of their own: the base is a C pointer there in any case.
ESPALIER_FORTRAN(mpi_win_allocate_cptr, MPI_WIN_ALLOCATE_CPTR,
                 (void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window, Int* error),
                 win_allocate, bytes, unit, info, comm, base, window, error)
ESPALIER_FORTRAN(mpi_win_allocate_shared_cptr, MPI_WIN_ALLOCATE_SHARED_CPTR,
                 (void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window, Int* error),
                 win_allocate, bytes, unit, info, comm, base, window, error)
ESPALIER_FORTRAN(mpi_win_create, MPI_WIN_CREATE,
                 (void* base, void* bytes, Int* unit, Int* info, Int* comm, Int* window, Int* error),
                 win_create, base, bytes, unit, info, comm, window, error)
#else
ESPALIER_F08(mpi_win_allocate_c, (void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window, Int* error),
             win_allocate, bytes, unit, info, comm, base, window, error)
ESPALIER_F08(mpi_win_allocate_shared_c,
             (void* bytes, Int* unit, Int* info, Int* comm, void* base, Int* window, Int* error),
             win_allocate, bytes, unit, info, comm, base, window, error)
#endif
// clang-format on

}  // namespace espalier::mpi::fortran
