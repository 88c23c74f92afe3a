// Tests and probes behind a collective of Espalier's.
//
// Under most hosts what was sent before a barrier is seen by the first probe behind it, because the barrier's
// own messages come behind it in the same queues. A wait in shared memory that ends while it spins leaves the
// host's queues as they are, and driving them in every call would cost every call. So the first test or probe
// behind a collective that finds nothing lets the host catch up and is done again.
#pragma once

#include "mpi/host/host.hpp"
#include "mpi/host/progress.hpp"
#include "runtime/progress/missed_tests.hpp"

namespace espalier::mpi {

/// `ask()` and `again()` return an error code and set what `found()` looks at.
template <class Ask, class Again, class Found>
int ask_twice(Ask ask, Again again, Found found) {
  const int code = ask();
  if (code != MPI_SUCCESS || found() || !runtime::asking::is_due()) return code;
  progress::catch_up();
  return again();
}

}  // namespace espalier::mpi
