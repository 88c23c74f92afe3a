// Allreduce for few ranks: every rank publishes, every rank reads all others and folds in rank order.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/chunk_copies.hpp"
#include "collective/core/fold.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/rounds.hpp"

namespace espalier::collective {

/// A message that rides inline: one flag exchange with the data in the flag lines (RG III-D).
template <Machine M>
[[gnu::flatten]] void allreduce_exchange_inline(M& m, const Reduction& r, const Plan& plan) {
  InlineExchange<M> exchange(m, plan);
  m.copy(exchange.own_line(), r.send, r.bytes);
  exchange.announce(m.other_ranks());
  for (const int peer : m.other_ranks()) m.source_array()[peer] = exchange.line_of(peer);
  detail::fold_in_rank_order(m, r, r.receive, r.send, r.bytes);
  exchange.finish(true);
}

/// Larger messages through the slots; the copy of the next chunk overtakes the folding of this one.
template <Machine M>
void allreduce_exchange(M& m, const Reduction& r, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return allreduce_exchange_inline(m, r, plan);
  const Chunks chunks(m, r.bytes, round_bytes(m, plan, true), r.operation.extent);
  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = true,
                         .readers = m.other_ranks(),
                         .can_pair = true,
                         .likely_again = r.bytes};
  const bool pairwise = uses_pairwise_slots(m, rounds);

  const auto show = [&](const Round& round) {
    const Part own = part_of(r.bytes, round.index, chunks.chunk_bytes());
    std::byte* slot = m.slot(m.rank(), round.steps);
    show_pairwise(m, slot, at(r.send, own.offset), own.bytes, pairwise ? own.bytes : 0, round.read_next);
    m.flush_for_readers(slot, own.bytes);
    m.publish(Channel::gather, round.step());
  };
  const auto fold = [&](const Round& round) {
    const Part own = part_of(r.bytes, round.index, chunks.chunk_bytes());
    for (const int peer : m.other_ranks()) {
      m.await(Channel::gather, peer, round.step());
      m.source_array()[peer] = begin_reading(m, m.slot(peer, round.steps), own.bytes);
    }
    detail::fold_in_rank_order(m, r, at(r.receive, own.offset), at(r.send, own.offset), own.bytes);
    return true;
  };
  in_rounds(m, rounds, show, fold);
}

}  // namespace espalier::collective
