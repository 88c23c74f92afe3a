// Nonblocking collectives that Espalier serves: persistent.hpp's requests, each used once.
#pragma once

#include <string>

#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::nonblocking {

using persistent::Draft;
using persistent::Request;

/// Local: waits for no rank. MPI_SUCCESS: `request` is under way; to_host: all ranks leave it to the host.
int start(Entry& entry, Draft&& draft, MPI_Request* request);
/// Waits for it; then its handle is no longer the program's. An MPI error code, raised already.
int complete(Request& request);

/// Serves a nonblocking call, or hands it on. Local: so a communicator that would first have to meet is left
/// to the host. `make` as in persistent::init().
template <class AnyCall, class HandOn>
int begin(void (*make)(const AnyCall&, Entry&, Draft&), Collective collective, const AnyCall& call,
          void* request, void* caller, HandOn hand_on) {
  Draft draft;
  const int code = guarded(call.comm, collective, draft.spec.bytes, [&] {
    Entry* entry = communicators::find(call.comm);
    if (!entry) entry = communicators::enter_alone(call.comm, caller);
    if (!entry) return to_host;
    draft.spec.collective = collective;
    draft.spec.root = call.root;
    make(call, *entry, draft);
    return start(*entry, std::move(draft), static_cast<MPI_Request*>(request));
  });
  return code == to_host ? hand_on() : code;
}

}  // namespace espalier::mpi::nonblocking
