// Allreduce for few ranks: every rank publishes, every rank reads all others and folds in rank order.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/fold.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/rounds.hpp"

namespace espalier::collective {

/// A message that rides inline: one flag exchange with the data in the flag lines.
template <Machine M>
void allreduce_exchange_inline(M& m, const Reduction& r, const Plan& plan) {
  Meeting<M> meeting(m, plan);
  exchange_inline(
      m, meeting, m.everybody_else(), [&](std::byte* line) { m.copy(line, r.send, r.bytes); },
      [&](auto of) {
        detail::fold_in_rank_order(m, r.receive, r.send, r.bytes, r, of);
        return true;
      });
}

/// Larger messages through the slots; the copy of the next chunk overtakes the folding of this one.
template <Machine M>
void allreduce_exchange(M& m, const Reduction& r, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return allreduce_exchange_inline(m, r, plan);
  const Chunks chunks(m, r.bytes, round_bytes(m, plan, true), r.operation.extent);
  const auto part = [&](const Round& round) { return part_of(r.bytes, round.index, chunks.chunk_bytes()); };
  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = true,
                         .readers = m.everybody_else(),
                         .can_pair = true,
                         .likely_again = r.bytes};
  const bool pairwise = uses_pairwise_slots(m, rounds);
  const auto show = [&](const Round& round) {
    const Part own = part(round);
    std::byte* slot = m.slot(m.rank(), round.steps);
    show_pairwise(m, slot, at(r.send, own.offset), own.bytes, pairwise ? own.bytes : 0);
    m.flush_for_readers(slot, own.bytes);
    m.publish(Channel::gather, round.step());
  };
  const auto fold = [&](const Round& round) {
    const Part own = part(round);
    detail::fold_in_rank_order(m, at(r.receive, own.offset), at(r.send, own.offset), own.bytes, r,
                               [&](int peer) -> const void* {
                                 m.await(Channel::gather, peer, round.step());
                                 m.prefault(m.slot(peer, round.steps), own.bytes);
                                 return m.slot(peer, round.steps);
                               });
    return true;
  };
  in_rounds(m, rounds, show, fold);
}

}  // namespace espalier::collective
