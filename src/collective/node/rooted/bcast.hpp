// Broadcast: the root copies in once, the flags run down the tree, every rank copies out of the root's slot
// (RG II-C, figure 2).
#pragma once

#include "collective/core/chunk_copies.hpp"
#include "collective/core/one_way.hpp"
#include "collective/core/tree_primitives.hpp"

namespace espalier::collective {

namespace detail {

/// The data ride in the flag lines (RG III-D). A part of bcast_tree(), of which it is most that a short call
/// takes.
template <Machine M>
[[gnu::always_inline]] inline void bcast_inline(M& m, const TreePosition& position, void* buffer,
                                                std::size_t bytes, const Plan& plan) {
  const Steps steps = m.advance(1);
  if (plan.read_from_parent && !position.is_leaf()) m.reserve(steps);
  if (position.is_root())
    pass_down(m, position, steps, buffer, bytes, plan);
  else
    m.copy(buffer, release(m, position, steps, bytes, plan), bytes);
  m.finish(steps.last());
  if (!position.is_leaf()) m.prefetch_own_line(Channel::release);
}

/// Lines 1 to 5 of figure 2.
template <Machine M>
Steps bcast_at_root(M& m, const TreePosition& position, const void* buffer, const Chunk& chunk,
                    const Plan& plan) {
  const Steps slots = copy_in(m, chunk, buffer, m.other_ranks());
  pass_down(m, position, slots, plan);
  return slots;
}

/// Lines 6 to 9; in between a rank sets its own children's flags.
template <Machine M>
Steps bcast_at_child(M& m, const TreePosition& position, void* buffer, const Chunk& chunk, const Plan& plan) {
  const Steps slots = release(m, position, chunk.steps, plan);
  copy_out(m, position.root, slots, chunk, buffer);
  return slots;
}

}  // namespace detail

/// `bytes` from the root's buffer into every rank's.
template <Machine M>
void bcast_tree(M& m, const TreePosition& position, void* buffer, std::size_t bytes, const Plan& plan) {
  if (bytes == 0) return;
  if (rides_inline(bytes, plan)) return detail::bcast_inline(m, position, buffer, bytes, plan);
  const Chunks chunks(m, bytes, plan);
  if (!position.is_root())
    return receive_in_chunks(m, chunks, [&](const Chunk& chunk) {
      return detail::bcast_at_child(m, position, buffer, chunk, plan);
    });
  const Step last = send_in_chunks(m, Channel::release, chunks, [&](const Chunk& chunk) {
    return detail::bcast_at_root(m, position, buffer, chunk, plan);
  });
  // RG's plain form has a gather here: the root leaves only when its slots are free again. Without it
  // reserve() waits where it must.
  if (!plan.skip_gather)
    for (const int reader : m.other_ranks()) m.await_finish(reader, last);
}

}  // namespace espalier::collective
