// Broadcast: the root copies in once, the flags run down the tree, every rank copies out of the root's slot
// (RG II-C).
#pragma once

#include "collective/core/tree_primitives.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
void bcast_inline(M& m, const TreePosition& position, void* buffer, std::size_t bytes, const Plan& plan) {
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  if (plan.read_from_parent && !position.is_leaf()) m.reserve(steps);
  if (position.is_root())
    pass_down(m, position, steps, buffer, bytes, plan);
  else
    m.copy(buffer, release(m, position, steps, bytes, plan), bytes);
  m.finish(step);
  if (!position.is_leaf()) m.prefetch_line_next(Channel::release);
}

// Slots in use are the pipeline: the root runs ahead of its readers until it has none left (RG III-C). Returns
// the slots that the chunk is in.
template <Machine M>
Steps bcast_chunk(M& m, const TreePosition& position, void* buffer, const Chunk& chunk, const Plan& plan) {
  Steps steps;
  if (position.is_root()) {
    steps = m.reserve(chunk.steps);
    std::byte* slot = m.slot(m.rank(), steps);
    m.write_slot(steps, slot, at(buffer, chunk.offset), chunk.bytes);
    m.flush_for_readers(slot, chunk.bytes);
    m.set_readers(steps, m.everybody_else());
    pass_down(m, position, steps, plan);
  } else {
    steps = release(m, position, chunk.steps, plan);
    const std::byte* slot = m.slot(position.root, steps);
    m.prefault(slot, chunk.bytes);
    m.copy(at(buffer, chunk.offset), slot, chunk.bytes);
  }
  m.finish(chunk.step());
  return steps;
}

}  // namespace detail

/// `bytes` from the root's buffer into every rank's.
template <Machine M>
void bcast_tree(M& m, const TreePosition& position, void* buffer, std::size_t bytes, const Plan& plan) {
  if (bytes == 0) return;
  Steps last;
  if (rides_inline(bytes, plan)) {
    detail::bcast_inline(m, position, buffer, bytes, plan);
  } else {
    const Chunks chunks(m, bytes, plan);
    for (std::size_t i = 0; i < chunks.count(); ++i) {
      last = detail::bcast_chunk(m, position, buffer, chunks.next_one_way(m, i), plan);
    }
    if (position.is_root())
      m.prefetch_own_next(Channel::release, last, bytes, chunks.chunk_bytes());
    else
      m.prefetch_read_next(last, bytes, chunks.chunk_bytes());
  }
  // RG's plain form: the root leaves only when its slots are free again. Skipped, reserve() asks when it
  // must.
  if (!plan.skip_gather && position.is_root() && last.first != 0)
    for (const int reader : m.everybody_else()) m.await_finish(reader, last.last());
}

}  // namespace espalier::collective
