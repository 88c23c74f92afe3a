// What Fortran's entry points do that ask whether something has come, beside those for requests: see
// repeat_test.hpp, and fortran.hpp, which says which languages come here.
#include "generated/mpi/bindings/fortran/bodies.hpp"
#include "mpi/host/repeat_test.hpp"

namespace espalier::mpi::fortran {
namespace {

/// `flag` is among the pointers.
template <class... Pointers>
void probe(const Names& names, const Int* flag, Int* error, void* caller, Pointers... pointers) {
  if (runtime::asking::is_plain() || resolve(caller) != Mode::active)
    return forward(names, error, pointers...);
  const auto once = [&] { return ask(names, pointers...); };
  set(error, ask_twice(once, once, [&] { return *flag != 0; }));
}

}  // namespace

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

}  // namespace espalier::mpi::fortran
