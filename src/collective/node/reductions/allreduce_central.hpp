// Allreduce for more ranks than cores: each rank leaves its vector and makes room; the last to arrive folds
// them all, in rank order, for every rank. A rank that waits is switched in once.
#pragma once

#include <cstring>

#include "collective/node/reductions/allreduce_exchange.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
void central_inline(M& m, const Reduction& r) {
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  m.reserve(steps);
  m.copy(m.inline_buffer(Channel::gather, step), r.send, r.bytes);
  m.set_readers(steps, m.other_ranks());
  if (m.arrive_last(step)) {
    for (const int peer : m.other_ranks())
      m.source_array()[peer] = m.inline_data(Channel::gather, peer, step);
    fold_in_rank_order(m, r, r.receive, r.send, r.bytes);
    m.release_all(step, r.receive, r.bytes);
  } else {
    m.copy(r.receive, m.await_release_all(step), r.bytes);
  }
  m.all_finished(step - 1);
  m.finish(step);
}

// The result lies in the slot of the rank that came last; the release line says who that was.
template <Machine M>
void central_chunk(M& m, const Reduction& r, const Chunk& chunk) {
  void* result = at(r.receive, chunk.offset);
  std::byte* own_slot = m.slot(m.rank(), chunk.steps);
  copy_in_cached(m, chunk, r.send, m.other_ranks());
  if (m.arrive_last(chunk.step())) {
    for (const int peer : m.other_ranks()) m.source_array()[peer] = m.slot(peer, chunk.steps);
    fold_in_rank_order(m, r, own_slot, at(r.send, chunk.offset), chunk.bytes);
    const int last_rank = m.rank();
    m.release_all(chunk.step(), &last_rank, sizeof last_rank);
    m.copy(result, own_slot, chunk.bytes);
  } else {
    int last_rank = 0;
    std::memcpy(&last_rank, m.await_release_all(chunk.step()), sizeof last_rank);
    m.copy(result, m.slot(last_rank, chunk.steps), chunk.bytes);
  }
  m.all_finished(chunk.steps.first - 1);
  m.finish(chunk.step());
}

}  // namespace detail

template <Machine M>
void allreduce_central(M& m, const Reduction& r, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return detail::central_inline(m, r);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  for (std::size_t i = 0; i < chunks.count(); ++i) detail::central_chunk(m, r, chunks.next(m, i));
}

}  // namespace espalier::collective
