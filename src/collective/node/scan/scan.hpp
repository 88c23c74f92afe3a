// Scan and exscan: every rank copies its vector into its slots, and folds the vectors of all lower ranks
// (scan: and its own), in rank order, from left to right.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/readers.hpp"
#include "collective/core/rounds.hpp"
#include "collective/node/reductions/reduce.hpp"

namespace espalier::collective {

enum class Prefix { inclusive, exclusive };

namespace detail {

/// Folds the vectors of the ranks below this one, which are in m.source_array() by rank, and for an inclusive
/// scan its own.
template <Machine M>
void fold_below(M& m, void* result, const void* own, std::size_t bytes, Prefix prefix, const Reduction& r) {
  const void** sources = m.source_array();
  int count = m.rank();
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
[[gnu::flatten]] void scan_inline(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  InlineExchange<M> exchange(m, plan);
  m.copy(exchange.own_line(), r.send, r.bytes);
  exchange.announce(ranks_above(m));
  for (int peer = 0; peer < m.rank(); ++peer) m.source_array()[peer] = exchange.line_of(peer);
  fold_below(m, r.receive, r.send, r.bytes, prefix, r);
  exchange.finish(is_last(m));
}

}  // namespace detail

template <Machine M>
void scan(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return detail::scan_inline(m, r, prefix, plan);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  const bool is_last = detail::is_last(m);
  Meeting<M> meeting(m, plan);
  const auto show = [&](const Round& round) {
    const Part mine = part_of(r.bytes, round.index, chunks.chunk_bytes());
    if (is_last) return meeting.announce_nothing(round.step());  // no rank reads it
    std::byte* slot = m.slot(m.rank(), round.steps);
    m.write_slot(slot, at(r.send, mine.offset), mine.bytes);
    m.flush_for_readers(slot, mine.bytes);
    meeting.announce(round.step());
  };

  const auto read = [&](const Round& round) {
    const Part mine = part_of(r.bytes, round.index, chunks.chunk_bytes());
    for (int peer = 0; peer < m.rank(); ++peer) {
      meeting.await(peer, round.step());
      m.source_array()[peer] = m.slot(peer, round.steps);
    }
    detail::fold_below(m, at(r.receive, mine.offset), at(r.send, mine.offset), mine.bytes, prefix, r);
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
