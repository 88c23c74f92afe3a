// What makes communicators is the host's; noted is which one each is (lifetime/creation.hpp).
#pragma once

#include "mpi/host/host.hpp"
#include "mpi/lifetime/creation.hpp"

namespace espalier::mpi {

/// `hand_on(next)` makes the communicator and stores it in `made`; null: it is there only when a request is
/// complete, and has no name then.
template <class HandOn>
int make_communicator(void* caller, Creation kind, Handle parent, int tag, const void* made, HandOn hand_on) {
  if (resolve(caller) != Mode::active) return hand_on(host.next);
  const Creating creating(kind, parent, tag);
  const int code = hand_on(host.next);
  if (code == MPI_SUCCESS && made) creating.made(wide(*static_cast<const MPI_Comm*>(made)));
  return code;
}

}  // namespace espalier::mpi
