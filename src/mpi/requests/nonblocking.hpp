// Nonblocking collectives that Espalier serves: persistent.hpp's requests, each used once.
#pragma once

#include <string>

#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::nonblocking {

using persistent::Draft;
using persistent::Request;

/// Local: waits for no rank. MPI_SUCCESS: `request` is under way; to_host: all ranks leave it to the host.
int start(Entry& entry, Draft&& draft, MPI_Request* request);
/// A reproducible reduction on a communicator whose ranks would have to meet first, which a nonblocking call must not
/// wait for: the host moves its vectors. False: it is none, and the host's; else `stranger` stands for the
/// communicator.
bool is_among_strangers(Collective collective, Handle comm, void* caller, Entry& stranger);
int start_among_strangers(Entry& stranger, Draft&& draft, MPI_Request* request);
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
    draft.spec.collective = collective;
    draft.spec.root = call.root;
    if (!entry) {
      Entry stranger;
      if (!is_among_strangers(collective, call.comm, caller, stranger)) return to_host;
      make(call, stranger, draft);
      return start_among_strangers(stranger, std::move(draft), static_cast<MPI_Request*>(request));
    }
    make(call, *entry, draft);
    return start(*entry, std::move(draft), static_cast<MPI_Request*>(request));
  });
  return code == to_host ? hand_on() : code;
}

}  // namespace espalier::mpi::nonblocking
