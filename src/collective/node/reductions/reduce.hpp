// Reduce: data flow up the tree, each parent folds its children's slots and its own vector in one pass (RG
// II-D, figure 3).
#pragma once

#include "collective/core/one_way.hpp"
#include "collective/core/reduction.hpp"
#include "collective/core/tree_primitives.hpp"

namespace espalier::collective {

namespace detail {

/// Own vector first, then the children's in their static order: the same order in every call (invariant 3). Or all
/// in rank order, at the root of a flat tree.
template <Machine M>
int collect_sources(M& m, const TreePosition& position, const Steps& steps, const void* own, bool inlined,
                    bool in_rank_order) {
  const void** sources = m.source_array();
  int count = 0;
  const auto add = [&](int rank, const void* vector) {
    sources[in_rank_order ? rank : count] = vector;
    ++count;
  };
  add(m.rank(), own);
  for (const int child : position.children)
    add(child, inlined ? m.inline_data(Channel::gather, child, steps.last()) : m.slot(child, steps));
  return count;
}

/// Figure 3 at a rank that has a parent: when the children have gathered, leaves copy and inner ranks fold,
/// into their own slot or line; then they set their flag. Returns the slots that the chunk is in.
template <Machine M>
Steps send_up(M& m, const TreePosition& position, const Chunk& chunk, const Reduction& r, bool inlined) {
  const void* own = at(r.send, chunk.offset);
  const Steps below = gather(m, position, chunk.steps);
  const Steps steps = m.reserve(chunk.steps);
  void* target = inlined ? m.inline_buffer(Channel::gather, steps.last()) : m.slot(m.rank(), steps);
  if (position.is_leaf()) {
    m.write_slot(steps, target, own, chunk.bytes);
  } else {
    const int count = collect_sources(m, position, below, own, inlined, false);
    m.reduce(r.operation, target, m.source_array(), count, chunk.bytes);
  }
  if (!inlined) m.flush_for_readers(target, chunk.bytes);
  m.set_readers(steps, {&position.parent, 1});
  m.publish(Channel::gather, steps);
  return steps;
}

/// Figure 3 at the root: straight into the receive buffer (RG III-E), or by way of its own slot.
/// Returns the slots that the chunk was in.
template <Machine M>
Steps receive_at_root(M& m, const TreePosition& position, const Chunk& chunk, const Reduction& r,
                      const Plan& plan, bool inlined) {
  void* result = at(r.receive, chunk.offset);
  const Steps below = gather(m, position, chunk.steps);
  const int count =
      collect_sources(m, position, below, at(r.send, chunk.offset), inlined, r.operation.at_once);
  if (plan.copy_avoidance) {
    m.reduce(r.operation, result, m.source_array(), count, chunk.bytes);
    return below;
  }
  void* own_slot = m.slot(m.rank(), m.reserve(chunk.steps));
  m.copy(own_slot, at(r.send, chunk.offset), chunk.bytes);
  m.source_array()[r.operation.at_once ? m.rank() : 0] = own_slot;
  m.reduce(r.operation, own_slot, m.source_array(), count, chunk.bytes);
  m.copy(result, own_slot, chunk.bytes);
  return below;
}

/// A message that rides inline, in one piece: it is most of what such a call takes.
template <Machine M>
[[gnu::flatten]] void reduce_inline(M& m, const TreePosition& position, const Reduction& r,
                                    const Plan& plan) {
  const Chunk whole{.bytes = r.bytes, .steps = m.advance(1)};
  if (position.is_root())
    receive_at_root(m, position, whole, r, plan, true);
  else
    send_up(m, position, whole, r, true);
  m.finish(whole.step());
  if (!position.is_root()) m.prefetch_own_line(Channel::gather);
}

}  // namespace detail

/// The result lands in the root's receive buffer; the others' is not touched.
template <Machine M>
void reduce_tree(M& m, const TreePosition& position, const Reduction& r, const Plan& plan) {
  if (rides_inline(r.bytes, plan)) return detail::reduce_inline(m, position, r, plan);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  if (position.is_root())
    receive_in_chunks(m, chunks, [&](const Chunk& chunk) {
      return detail::receive_at_root(m, position, chunk, r, plan, false);
    });
  else
    send_in_chunks(m, Channel::gather, chunks,
                   [&](const Chunk& chunk) { return detail::send_up(m, position, chunk, r, false); });
}

}  // namespace espalier::collective
