// What begins to send or receive is the host's; remembered is which long messages are on their way, because
// the other side may need this rank's progress (long_messages.hpp).
#pragma once

#include "mpi/host/host.hpp"
#include "mpi/requests/long_messages.hpp"

namespace espalier::mpi {

/// `hand_on(next)` begins the message and stores `request`.
template <class HandOn>
[[gnu::always_inline]] inline int begin_message(void* caller, MPI_Count count, Handle type, int peer,
                                                const void* request, HandOn hand_on) {
  const Mode mode = resolve(caller);
  const int code = hand_on(host.next);
  if (code == MPI_SUCCESS && mode == Mode::active) long_messages::begun(count, type, peer, request);
  return code;
}

}  // namespace espalier::mpi
