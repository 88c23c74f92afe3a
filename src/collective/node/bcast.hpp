// Broadcast: the root copies in once, the flags run down the tree, every rank copies out of the root's slot
// (RG II-C).
#pragma once

#include "collective/core/tree_primitives.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
void bcast_inline(M& m, const TreePosition& position, void* buffer, std::size_t bytes, const Plan& plan) {
  const Step step = m.advance(1);
  if (plan.read_from_parent && !position.is_leaf()) m.reserve(step, 1);
  if (position.is_root())
    pass_down(m, position, step, buffer, bytes, plan);
  else
    m.copy(buffer, release(m, position, step, bytes, plan), bytes);
  m.finish(step);
  if (!position.is_leaf()) m.prefetch_own_next(Channel::release, bytes, bytes);
}

// Slots in use are the pipeline: the root runs ahead of its readers until it has none left (RG III-C).
template <Machine M>
void bcast_chunk(M& m, const TreePosition& position, void* buffer, const Chunk& chunk, const Plan& plan) {
  if (position.is_root()) {
    m.reserve(chunk.first, chunk.span);
    m.write_slot(m.slot(m.rank(), chunk.first), at(buffer, chunk.offset), chunk.bytes);
    m.flush_for_readers(m.slot(m.rank(), chunk.first), chunk.bytes);
    m.set_readers(chunk.first, chunk.span, m.everybody_else());
    pass_down(m, position, chunk.step(), nullptr, 0, plan);
  } else {
    release(m, position, chunk.step(), 0, plan);
    m.prefault(m.slot(position.root, chunk.first), chunk.bytes);
    m.copy(at(buffer, chunk.offset), m.slot(position.root, chunk.first), chunk.bytes);
  }
  m.finish(chunk.step());
}

}  // namespace detail

/// `bytes` from the root's buffer into every rank's.
template <Machine M>
void bcast_tree(M& m, const TreePosition& position, void* buffer, std::size_t bytes, const Plan& plan) {
  if (bytes == 0) return;
  Step last = 0;
  if (rides_inline(bytes, plan)) {
    detail::bcast_inline(m, position, buffer, bytes, plan);
  } else {
    const Chunks chunks(m, bytes, plan);
    for (std::size_t i = 0; i < chunks.count(); ++i) {
      const Chunk chunk = chunks.next_one_way(m, i);
      detail::bcast_chunk(m, position, buffer, chunk, plan);
      last = chunk.step();
    }
    if (position.is_root())
      m.prefetch_own_next(Channel::release, bytes, chunks.chunk_bytes());
    else
      m.prefetch_read_next(bytes, chunks.chunk_bytes());
  }
  // RG's plain form: the root leaves only when its slots are free again. Skipped, reserve() asks when it
  // must.
  if (!plan.skip_gather && position.is_root() && last != 0)
    for (const int reader : m.everybody_else()) m.await_finish(reader, last);
}

}  // namespace espalier::collective
