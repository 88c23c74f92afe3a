// The two moves: release flows down a tree, gather flows up (DESIGN, idea 2; RG II-B).
#pragma once

#include <cstddef>

#include "collective/core/chunks.hpp"
#include "collective/core/tree_position.hpp"

namespace espalier::collective {

/// Hands `bytes` of inline data (none: just the flag) on to the children.
template <Machine M>
void pass_down(M& m, const TreePosition& position, Step step, const void* data, std::size_t bytes,
               const Plan& plan) {
  if (position.is_leaf()) return;
  if (plan.read_from_parent) {
    m.publish_inline(Channel::release, step, data, bytes);
    if (bytes > 0) m.set_readers(step, 1, position.children);
    return;
  }
  // A child's line has several writers over time: its parents in different trees, and itself in calls in
  // which its own children read from it, whom the parent does not know. So all ranks must be done with the
  // line's former step: it is neither overwritten before it is read nor overtaken by a later step.
  const auto slots = static_cast<Step>(m.slots());
  if (step > slots)
    for (const int peer : m.everybody_else()) m.await_finish(peer, step - slots);
  for (const int child : position.children) m.publish_for(child, Channel::release, step, data, bytes);
}

/// Waits for the parent's release and hands it on at once, before this rank does anything with it: flags
/// travel ahead of copies. Returns the inline data.
template <Machine M>
const std::byte* release(M& m, const TreePosition& position, Step step, std::size_t inline_bytes,
                         const Plan& plan) {
  const int line_of = plan.read_from_parent ? position.parent : m.rank();
  m.await(Channel::release, line_of, step);
  const std::byte* data = m.inline_data(Channel::release, line_of, step);
  pass_down(m, position, step, data, inline_bytes, plan);
  return data;
}

/// Waits until all children have gathered: whatever lies in their slots and lines is complete for their
/// subtrees.
template <Machine M>
void gather(M& m, const TreePosition& position, Step step) {
  for (const int child : position.children) m.await(Channel::gather, child, step);
}

}  // namespace espalier::collective
