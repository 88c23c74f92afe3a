// Allreduce for few ranks: everybody publishes, everybody reads all others and folds in rank order.
#pragma once

#include "collective/blocks.hpp"
#include "collective/reduce.hpp"
#include "collective/rounds.hpp"

namespace espalier::collective {

namespace detail {

/// Folds all ranks' vectors in rank order, so that all ranks compute the same bits (invariant 3). `of(peer)`
/// gives a peer's vector once it is there.
template <Machine M, class Source>
void fold_in_rank_order(M& m, void* result, const void* own, std::size_t bytes, const Reduction& r,
                        Source of) {
  const void** sources = m.source_array();
  for (int rank = 0; rank < m.size(); ++rank) sources[rank] = rank == m.rank() ? own : of(rank);
  m.reduce(r.operation, result, sources, m.size(), bytes);
}

}  // namespace detail

/// A message that rides inline: one flag exchange with the data in the flag lines.
template <Machine M>
void allreduce_exchange_inline(M& m, const Reduction& r) {
  const Step step = m.advance(1);
  m.reserve(step, 1);
  m.publish_inline(Channel::gather, step, r.send, r.bytes);
  m.lend(step, 1, m.everybody_else());
  detail::fold_in_rank_order(m, r.receive, r.send, r.bytes, r, [&](int peer) -> const void* {
    m.await(Channel::gather, peer, step);
    return m.inline_data(Channel::gather, peer, step);
  });
  m.everybody_finished(step - 1);
  m.finish(step);
  m.own_next(Channel::gather, r.bytes, r.bytes);
}

/// Larger messages through the slots; the copy of the next chunk overtakes the folding of this one.
template <Machine M>
void allreduce_exchange(M& m, const Reduction& r, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return allreduce_exchange_inline(m, r);
  const Chunks chunks(m, r.bytes, round_bytes(m, plan, true), r.operation.extent);
  const auto part = [&](const Round& round) { return part_of(r.bytes, round.index, chunks.chunk_bytes()); };
  const auto show = [&](const Round& round) {
    const Part own = part(round);
    std::byte* slot = m.slot(m.rank(), round.first);
    m.show(slot, at(r.send, own.offset), own.bytes);
    m.hand_over(slot, own.bytes);
    m.publish(Channel::gather, round.step());
  };
  const auto fold = [&](const Round& round) {
    const Part own = part(round);
    detail::fold_in_rank_order(m, at(r.receive, own.offset), at(r.send, own.offset), own.bytes, r,
                               [&](int peer) -> const void* {
                                 m.await(Channel::gather, peer, round.step());
                                 m.open_pages(m.slot(peer, round.first), own.bytes);
                                 return m.slot(peer, round.first);
                               });
    return true;
  };
  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = true,
                         .readers = m.everybody_else(),
                         .even = true};
  in_rounds(m, rounds, show, fold);
  expect_another(m, r.bytes, chunks.chunk_bytes());
}

}  // namespace espalier::collective
