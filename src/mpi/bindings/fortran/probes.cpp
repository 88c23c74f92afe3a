// The Fortran entry points that ask whether something has come, beside those for requests: see
// repeat_test.hpp, and fortran.cpp, which says which languages come here.
#include "mpi/bindings/fortran/fortran.hpp"
#include "mpi/host/repeat_test.hpp"

namespace espalier::mpi::fortran {
namespace {

/// `flag` is among the pointers.
template <class... Pointers>
void probe(const Names& names, const Int* flag, Int* error, void* caller, Pointers... pointers) {
  if (runtime::asking::is_plain() || resolve(caller) != Mode::active)
    return forward(names, error, pointers...);
  const auto ask = [&] {
    Int code = MPI_SUCCESS;
    forward(names, &code, pointers...);
    return code;
  };
  set(error, ask_twice(ask, ask, [&] { return *flag != 0; }));
}

void iprobe(const Names& names, Int* source, Int* tag, Int* comm, Int* flag, void* status, Int* error,
            void* caller) {
  probe(names, flag, error, caller, source, tag, comm, flag, status);
}

void improbe(const Names& names, Int* source, Int* tag, Int* comm, Int* flag, Int* message, void* status,
             Int* error, void* caller) {
  probe(names, flag, error, caller, source, tag, comm, flag, message, status);
}

void win_test(const Names& names, Int* window, Int* flag, Int* error, void* caller) {
  probe(names, flag, error, caller, window, flag);
}

void parrived(const Names& names, Int* request, Int* partition, Int* flag, Int* error, void* caller) {
  probe(names, flag, error, caller, request, partition, flag);
}

}  // namespace

// clang-format off
ESPALIER_FORTRAN(mpi_iprobe, MPI_IPROBE, (Int* source, Int* tag, Int* comm, Int* flag, void* status, Int* error),
                 iprobe, source, tag, comm, flag, status, error)
ESPALIER_FORTRAN(mpi_improbe, MPI_IMPROBE,
                 (Int* source, Int* tag, Int* comm, Int* flag, Int* message, void* status, Int* error),
                 improbe, source, tag, comm, flag, message, status, error)
ESPALIER_FORTRAN(mpi_win_test, MPI_WIN_TEST, (Int* window, Int* flag, Int* error), win_test, window, flag, error)
ESPALIER_FORTRAN(mpi_parrived, MPI_PARRIVED, (Int* request, Int* partition, Int* flag, Int* error),
                 parrived, request, partition, flag, error)
// clang-format on

}  // namespace espalier::mpi::fortran
