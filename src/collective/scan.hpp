// Scan and exscan: every rank shows its vector and folds those of the ranks below it (scan: and its own), in
// rank order, from left to right.
#pragma once

#include "collective/blocks.hpp"
#include "collective/meeting.hpp"
#include "collective/readers.hpp"
#include "collective/reduce.hpp"
#include "collective/rounds.hpp"

namespace espalier::collective {

enum class Prefix { inclusive, exclusive };

template <Machine M>
void scan(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  const bool inlined = rides_inline(r.bytes, plan);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  const bool is_last = m.rank() == m.size() - 1;
  Meeting<M> meeting(m, plan);
  const auto part = [&](const Round& round) { return part_of(r.bytes, round.index, chunks.chunk_bytes()); };

  const auto show = [&](const Round& round) {
    const Part mine = part(round);
    if (is_last) return meeting.announce_nothing(round.step());  // nobody reads it
    if (inlined) return meeting.announce_inline(round.step(), at(r.send, mine.offset), mine.bytes);
    std::byte* slot = m.slot(m.rank(), round.first);
    m.show(slot, at(r.send, mine.offset), mine.bytes);
    m.hand_over(slot, mine.bytes);
    meeting.announce(round.step());
  };

  const auto read = [&](const Round& round) {
    const Part mine = part(round);
    const void** sources = m.source_array();
    int count = 0;
    for (int peer = 0; peer < m.rank(); ++peer) {
      meeting.await(peer, round.step());
      sources[count++] =
          inlined ? m.inline_data(Channel::gather, peer, round.step()) : m.slot(peer, round.first);
    }
    if (prefix == Prefix::inclusive) sources[count++] = at(r.send, mine.offset);
    if (count > 0) m.reduce(r.operation, at(r.receive, mine.offset), sources, count, mine.bytes);
    return meeting.is_central() || is_last;
  };

  const auto above = is_last ? std::span<const int>() : readers(m, m.rank() + 1, m.size() - 1);
  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = !meeting.is_central(),
                         .readers = above,
                         .mutual = false};
  in_rounds(m, rounds, show, read);
  if (meeting.is_central()) return;
  if (is_last)
    m.read_next(r.bytes, chunks.chunk_bytes());
  else
    m.own_next(Channel::gather, r.bytes, chunks.chunk_bytes());
}

}  // namespace espalier::collective
