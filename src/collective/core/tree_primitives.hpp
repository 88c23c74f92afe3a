// The two primitives: release goes down a tree, gather goes up (DESIGN, idea 2; RG II-B, figures 2 and 3).
#pragma once

#include <cstddef>

#include "collective/core/chunks.hpp"
#include "collective/core/tree_position.hpp"

namespace espalier::collective {

/// Before a rank writes the release lines of its children. A child's line has several writers over time: its
/// parents in different trees, and itself in calls in which its own children read from it, whom the parent
/// does not know. So all ranks must be done with the line's former step: it is neither overwritten before it
/// is read nor overtaken by a later step.
template <Machine M>
void reserve_lines_of_others(M& m, Step step) {
  const auto slots = static_cast<Step>(m.slots());
  if (step > slots)
    for (const int peer : m.other_ranks()) m.await_finish(peer, step - slots);
}

/// Sets the children's flags, with `bytes` of inline data.
template <Machine M>
void pass_down(M& m, const TreePosition& position, const Steps& steps, const void* data, std::size_t bytes,
               const Plan& plan) {
  if (position.is_leaf()) return;
  if (plan.read_from_parent) {
    m.publish_inline(Channel::release, steps.last(), data, bytes);
    if (bytes > 0) m.set_readers(steps, position.children);
    return;
  }
  reserve_lines_of_others(m, steps.last());
  for (const int child : position.children) m.publish_for(child, Channel::release, steps.last(), data, bytes);
}

/// Sets the children's flags; what they announce lies in the root's slots.
template <Machine M>
void pass_down(M& m, const TreePosition& position, const Steps& steps, const Plan& plan) {
  if (position.is_leaf()) return;
  if (plan.read_from_parent) return m.publish(Channel::release, steps);
  reserve_lines_of_others(m, steps.last());
  for (const int child : position.children) m.publish_for(child, Channel::release, steps);
}

/// The rank in whose line this one's release flag is.
template <Machine M>
int release_line(const M& m, const TreePosition& position, const Plan& plan) {
  return plan.read_from_parent ? position.parent : m.rank();
}

/// Waits for the parent's release and hands it on at once, before this rank does anything with it: flags
/// travel ahead of copies. Returns the inline data.
template <Machine M>
const std::byte* release(M& m, const TreePosition& position, const Steps& steps, std::size_t inline_bytes,
                         const Plan& plan) {
  const int line_of = release_line(m, position, plan);
  m.await(Channel::release, line_of, steps.last());
  const std::byte* data = m.inline_data(Channel::release, line_of, steps.last());
  pass_down(m, position, steps, data, inline_bytes, plan);
  return data;
}

/// The same where the data lie in the root's slots. Returns which these are.
template <Machine M>
Steps release(M& m, const TreePosition& position, const Steps& steps, const Plan& plan) {
  const Steps there = m.await(Channel::release, release_line(m, position, plan), steps);
  pass_down(m, position, there, plan);
  return there;
}

/// Waits until all children have gathered: whatever lies in their slots and lines is complete for their
/// subtrees. Returns which slots these are.
template <Machine M>
Steps gather(M& m, const TreePosition& position, Steps steps) {
  for (const int child : position.children) steps = m.await(Channel::gather, child, steps);
  return steps;
}

}  // namespace espalier::collective
