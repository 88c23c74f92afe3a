// Nonblocking collectives that Espalier serves: persistent.hpp's requests, each used once.
#pragma once

#include <string>

#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::nonblocking {

using persistent::Draft;
using persistent::Request;

/// A request that is used once, and goes back unless its collective is under way.
class Taken {
 public:
  explicit Taken(Entry& entry) : request_(&persistent::take_once(entry)) {}
  ~Taken();
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  /// Its draft has the room of the one before.
  Request& request() { return *request_; }
  void keep() { request_ = nullptr; }
  /// The draft, as a maker wants it.
  Draft& begin_draft(Collective collective, int root, bool may_be_brief) {
    Draft& draft = request_->draft;
    draft.spec.collective = collective;
    draft.spec.root = root;
    draft.spec.bytes = 0;
    draft.may_be_brief = may_be_brief;
    draft.is_brief = false;
    return draft;
  }

 private:
  Request* request_;
};

/// ESPALIER_NONBLOCKING=off, or over nodes a rule, leaves the call to the host, whatever its arguments are: no draft is
/// made.
bool is_off(Entry& entry, Collective collective);
/// Local: waits for no rank. MPI_SUCCESS: what the draft of `taken` says is under way, as `request`; to_host:
/// all ranks leave it to the host.
int start(Entry& entry, Taken& taken, MPI_Request* request);
/// Makes the request of a call of one rank, whose result is there: one of the host's, which is complete.
int make_complete(const Entry& entry, MPI_Request* request);
/// A reproducible reduction on a communicator whose ranks would have to meet first, which a nonblocking call must not
/// wait for: the host moves its vectors. False: it is none, and the host's; else `stranger` stands for the
/// communicator.
bool is_among_strangers(Collective collective, Handle comm, void* caller, Entry& stranger);
int start_among_strangers(Entry& stranger, Taken& taken, MPI_Request* request);
/// Waits for it; then its handle is no longer the program's. An MPI error code, raised already.
int complete(Request& request);

/// What the entry points know of a collective: `make` as in persistent::init(), and the blocking call, which of a
/// communicator of one rank waits for no rank either.
template <class AnyCall>
struct Ways {
  Collective collective;
  void (*make)(const AnyCall&, Entry&, Draft&);
  int (*call_blocking)(const AnyCall&, void* caller);
};

/// On a communicator of one rank. Of a broadcast the host looks at the arguments, and there is nothing else to do.
template <class AnyCall>
int begin_alone(const Ways<AnyCall>& ways, const AnyCall& call, const Entry& entry, void* request,
                void* caller) {
  if (ways.collective == Collective::bcast) return to_host;
  const int code = ways.collective == Collective::barrier ? MPI_SUCCESS : ways.call_blocking(call, caller);
  return code == MPI_SUCCESS ? make_complete(entry, static_cast<MPI_Request*>(request)) : code;
}

/// Serves a nonblocking call, or hands it on. Local: so a communicator that would first have to meet is left
/// to the host.
template <class AnyCall, class HandOn>
int begin(const Ways<AnyCall>& ways, const AnyCall& call, void* request, void* caller, HandOn hand_on) {
  const Collective collective = ways.collective;
  std::size_t bytes = 0;
  const int code = guarded(
      call.comm, collective, bytes,
      [&] {
        Entry* entry = communicators::find(call.comm);
        if (!entry) entry = communicators::enter_alone(call.comm, caller);
        if (!entry) {
          Entry stranger;
          if (!is_among_strangers(collective, call.comm, caller, stranger)) return to_host;
          Taken taken(stranger);
          Draft& draft = taken.begin_draft(collective, call.root, false);
          ways.make(call, stranger, draft);
          bytes = draft.spec.bytes;
          return start_among_strangers(stranger, taken, static_cast<MPI_Request*>(request));
        }
        if (is_off(*entry, collective)) return to_host;
        if (entry->communicator->size() == 1) return begin_alone(ways, call, *entry, request, caller);
        Taken taken(*entry);
        Draft& draft = taken.begin_draft(collective, call.root, true);
        ways.make(call, *entry, draft);
        bytes = draft.spec.bytes;
        return start(*entry, taken, static_cast<MPI_Request*>(request));
      },
      Form::nonblocking);
  return code == to_host ? hand_on() : code;
}

}  // namespace espalier::mpi::nonblocking
