// Scan and exscan: every rank shows its vector and folds those of the ranks below it (scan: and its own), in
// rank order, from left to right.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/readers.hpp"
#include "collective/core/rounds.hpp"
#include "collective/node/reduce.hpp"

namespace espalier::collective {

enum class Prefix { inclusive, exclusive };

namespace detail {

/// The vectors below this rank's, of which `of(peer)` gives one, and, if it is to be in, its own.
template <Machine M, class Source>
void fold_below(M& m, void* result, const void* own, std::size_t bytes, Prefix prefix, const Reduction& r,
                Source of) {
  const void** sources = m.source_array();
  int count = 0;
  for (int peer = 0; peer < m.rank(); ++peer) sources[count++] = of(peer);
  if (prefix == Prefix::inclusive) sources[count++] = own;
  if (count > 0) m.reduce(r.operation, result, sources, count, bytes);
}

template <Machine M>
bool is_last(const M& m) {
  return m.rank() == m.size() - 1;
}
template <Machine M>
std::span<const int> ranks_above(const M& m) {
  return is_last(m) ? std::span<const int>() : readers(m, m.rank() + 1, m.size() - 1);
}

template <Machine M>
void scan_inline(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  Meeting<M> meeting(m, plan);
  exchange_inline(
      m, meeting, ranks_above(m), [&](std::byte* line) { m.copy(line, r.send, r.bytes); },
      [&](auto of) {
        fold_below(m, r.receive, r.send, r.bytes, prefix, r, of);
        return is_last(m);
      });
}

}  // namespace detail

template <Machine M>
void scan(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return detail::scan_inline(m, r, prefix, plan);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  const bool is_last = detail::is_last(m);
  Meeting<M> meeting(m, plan);
  const auto part = [&](const Round& round) { return part_of(r.bytes, round.index, chunks.chunk_bytes()); };

  const auto show = [&](const Round& round) {
    const Part mine = part(round);
    if (is_last) return meeting.announce_nothing(round.step());  // no rank reads it
    std::byte* slot = m.slot(m.rank(), round.steps);
    m.write_slot(slot, at(r.send, mine.offset), mine.bytes);
    m.flush_for_readers(slot, mine.bytes);
    meeting.announce(round.step());
  };

  const auto read = [&](const Round& round) {
    const Part mine = part(round);
    detail::fold_below(m, at(r.receive, mine.offset), at(r.send, mine.offset), mine.bytes, prefix, r,
                       [&](int peer) {
                         meeting.await(peer, round.step());
                         return m.slot(peer, round.steps);
                       });
    return meeting.is_central() || is_last;
  };

  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = !meeting.is_central(),
                         .readers = detail::ranks_above(m),
                         .mutual = false,
                         .likely_again = meeting.is_central() ? 0 : r.bytes};
  in_rounds(m, rounds, show, read);
}

}  // namespace espalier::collective
