// Who serves a call: the part of ESPALIER_GUARD that every call passes through.
#pragma once

#include "mpi/call.hpp"
#include "mpi/guard/kinds.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"

namespace espalier::mpi::guard {

/// Not inlined: with it the calls that have such counts became too long to be one function, also without the guard.
[[gnu::noinline]] inline MPI_Count sum_of(const Numbers& counts, int ranks) {
  MPI_Count sum = 0;
  for (int rank = 0; counts.data() && rank < ranks; ++rank) sum += counts[rank];
  return sum;
}

template <Collective collective>
CallLength length_of(const runtime::Communicator& communicator, const Call& call) {
  constexpr bool in_blocks = collective == Collective::reduce_scatter, reduces = traits(collective).reduces;
  return {in_blocks ? sum_of(call.counts, communicator.size()) : call.count, call.type,
          reduces ? call.op : 0};
}

template <Collective collective>
CallLength length_of(const runtime::Communicator& communicator, const Transfer& call) {
  const bool is_root = communicator.rank() == call.root;
  const bool is_sent =
      collective == Collective::scatter ? is_root : collective == Collective::gather && !is_root;
  const Part& part = is_sent ? call.send : call.receive;
  constexpr bool in_blocks = traits(collective).length == Length::mean;
  return {in_blocks ? sum_of(part.counts, communicator.size()) : part.count, part.type, 0};
}

template <Collective collective, class AnyCall>
[[gnu::always_inline]] inline Kind& kind_of(const Entry& entry, const AnyCall& call) {
  if constexpr (has_length(collective))
    return entry.kinds->find<collective>(length_of<collective>(*entry.communicator, call));
  else
    return entry.kinds->find<collective>();
}

/// A call that is not plain. May be collective. Throws Error.
[[gnu::cold, gnu::noinline]] Server begin_tried(const Entry& entry, Collective collective, Kind& kind);

/// Decides who serves a call that begins; the statistics hear of the host's. May be collective. Throws Error.
template <Collective collective, class AnyCall>
[[gnu::always_inline]] inline Server begin_call(const Entry& entry, const AnyCall& call) {
  if constexpr (traits(collective).in_pieces) return Server::espalier;
  Kind& kind = kind_of<collective>(entry, call);
  if (kind.turns.is_plain()) [[likely]]
    return Server::espalier;
  return begin_tried(entry, collective, kind);
}

}  // namespace espalier::mpi::guard
