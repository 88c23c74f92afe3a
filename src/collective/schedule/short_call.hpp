// Nonblocking collectives of few bytes, of the kinds that programs call most: all that a rank gives rides in
// its flag line, and what it does follows from a few words. Other ranks see no difference to a call with a
// spec's lists, which another rank may have for the same call.
#pragma once

#include <cstddef>

#include "base/collective.hpp"
#include "collective/schedule/given_data.hpp"

namespace espalier::collective {

/// Barrier, bcast, reduce, allreduce or allgather of up to line_capacity bytes (of a rank), not in place. The
/// rest is in the spec: collective, root, bytes, operation, and the fold's operation on ranks that fold.
struct ShortCall {
  const std::byte* send = nullptr;  ///< of a rank that gives something
  std::byte* receive = nullptr;     ///< of a rank that gets something
};

/// Whether others need this rank's bytes.
inline bool gives_in_short(const PersistentSpec& spec, int rank) {
  switch (spec.collective) {
    case Collective::barrier:
      return false;
    case Collective::bcast:
      return rank == spec.root;
    case Collective::reduce:
      return rank != spec.root;
    default:
      return true;
  }
}

/// Whether this rank hears from all others before it is done.
inline bool hears_all_in_short(const PersistentSpec& spec, int rank) {
  return spec.collective != Collective::bcast && (spec.collective != Collective::reduce || rank == spec.root);
}

/// As give_data().
template <Machine M>
void give_short(M& m, const PersistentSpec& spec, const ShortCall& brief, const Giving& giving) {
  const bool gives = gives_in_short(spec, m.rank());
  Notice notice;
  notice.bytes = gives ? spec.bytes : 0;
  notice.say_finished(giving.number, giving.finished);
  detail::write_notice(m, giving.line, notice);
  if (gives) m.copy(m.payload_at(giving.line) + sizeof notice, brief.send, spec.bytes);
  m.signal_at(giving.line, giving.number);
  if (spec.collective == Collective::allgather)
    m.copy(brief.receive + static_cast<std::size_t>(m.rank()) * spec.bytes, brief.send, spec.bytes);
}

}  // namespace espalier::collective
