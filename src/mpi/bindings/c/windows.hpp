// What makes windows is the host's; counted is how many there are, because a rank with windows is needed by
// others also while it waits in a collective of Espalier's.
#pragma once

#include "mpi/host/host.hpp"
#include "runtime/progress/progress_needs.hpp"

namespace espalier::mpi {

/// `hand_on(next)` makes the window.
template <class HandOn>
int make_window(void* caller, HandOn hand_on) {
  resolve(caller);
  const int code = hand_on(host.next);
  if (code == MPI_SUCCESS) runtime::add_host_window();
  return code;
}

}  // namespace espalier::mpi
