// Who serves a call: the part of ESPALIER_GUARD that every call passes through.
#pragma once

#include "mpi/call.hpp"
#include "mpi/guard/kinds.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"

namespace espalier::mpi::guard {

inline MPI_Count sum_of(const Numbers& counts, int ranks) {
  MPI_Count sum = 0;
  for (int rank = 0; counts.data() && rank < ranks; ++rank) sum += counts[rank];
  return sum;
}

/// Blocks whose lengths a rank does not know of the others, and barriers, are all of one kind.
inline CallLength unknown_length(Collective collective) {
  return {collective, 0, wide(host.constants.byte), 0};
}

inline CallLength length_of(const runtime::Communicator& communicator, Collective collective,
                            const Call& call) {
  if (collective == Collective::barrier) return unknown_length(collective);
  const bool in_blocks = collective == Collective::reduce_scatter;
  return {collective, in_blocks ? sum_of(call.counts, communicator.size()) : call.count, call.type,
          traits(collective).reduces ? call.op : 0};
}

inline CallLength length_of(const runtime::Communicator& communicator, Collective collective,
                            const Transfer& call) {
  const Length known = traits(collective).length;
  if (known == Length::none) return unknown_length(collective);
  const bool is_root = communicator.rank() == call.root;
  const bool is_sent =
      collective == Collective::scatter ? is_root : collective == Collective::gather && !is_root;
  const Part& part = is_sent ? call.send : call.receive;
  const bool in_blocks = known == Length::mean;
  return {collective, in_blocks ? sum_of(part.counts, communicator.size()) : part.count, part.type, 0};
}

/// The entry, with kinds, of a communicator whose first call this is; null: its calls are not tried.
[[gnu::cold, gnu::noinline]] Entry* with_kinds(Handle comm, void* caller);
/// A call of a trial, or one that is the host's.
[[gnu::cold, gnu::noinline]] Server begin_tried(Entry& entry, Collective collective, Kind& kind);

/// Decides who serves a call that begins; the statistics hear of the host's. Collective where the communicator is
/// new. Throws Error.
template <class AnyCall>
Server begin_call(const AnyCall& call, void* caller, Collective collective) {
  if (traits(collective).in_pieces) return Server::espalier;
  Entry* entry = communicators::find(call.comm);
  if (!entry || !entry->kinds) [[unlikely]] {
    entry = with_kinds(call.comm, caller);
    if (!entry) return Server::espalier;
  }
  Kind* kind = entry->kinds->find(length_of(*entry->communicator, collective, call));
  if (!kind || ++kind->calls < kind->plain_until) [[likely]]
    return Server::espalier;
  return begin_tried(*entry, collective, *kind);
}

/// A call on trial is over.
[[gnu::cold, gnu::noinline]] int end_tried(Handle comm, Collective collective, Kinds& kinds, int code);

/// A call is over with `code`, which is returned, or that of an error here. May be collective over the communicator.
inline int end_call(Handle comm, Collective collective, int code) {
  Entry* entry = communicators::find(comm);
  if (!entry || !entry->kinds || !entry->kinds->on_trial) [[likely]]
    return code;
  return end_tried(comm, collective, *entry->kinds, code);
}

}  // namespace espalier::mpi::guard
