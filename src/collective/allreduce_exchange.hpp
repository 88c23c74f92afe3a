// Allreduce for few ranks: everybody publishes, everybody reads all others and folds in rank order.
#pragma once

#include "collective/reduce.hpp"

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
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next(m, i);
    const void* own = at(r.send, chunk.offset);
    m.reserve(chunk.first, chunk.span);
    m.show(m.slot(m.rank(), chunk.first), own, chunk.bytes);
    m.hand_over(m.slot(m.rank(), chunk.first), chunk.bytes);
    m.lend(chunk.first, chunk.span, m.everybody_else());
    m.publish(Channel::gather, chunk.step());
    detail::fold_in_rank_order(m, at(r.receive, chunk.offset), own, chunk.bytes, r,
                               [&](int peer) -> const void* {
                                 m.await(Channel::gather, peer, chunk.step());
                                 return m.slot(peer, chunk.first);
                               });
    m.everybody_finished(chunk.first - 1);
    m.finish(chunk.step());
  }
  m.own_next(Channel::gather, r.bytes, chunks.chunk_bytes());
}

}  // namespace espalier::collective
