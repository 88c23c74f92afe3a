// Allreduce on trees: a reduce whose result is broadcast while the next chunk is reduced (RG II-E; III-C).
#pragma once

#include "collective/core/chunk_copies.hpp"
#include "collective/core/tree_pipeline.hpp"
#include "collective/node/reductions/reduce.hpp"

namespace espalier::collective {

namespace detail {

/// Figure 3 of RG, with lines 1 to 5 of figure 2 for each chunk at once.
template <Machine M>
void reduce_and_bcast_at_root(M& m, const TreePosition& up, const TreePosition& down, const Chunk& chunk,
                              const Reduction& r, const Plan& plan, bool inlined) {
  receive_at_root(m, up, chunk, r, plan, inlined);
  if (inlined) {
    m.reserve(chunk.steps);
    pass_down(m, down, chunk.steps, at(r.receive, chunk.offset), chunk.bytes, plan);
  } else {
    pass_down(m, down, copy_in_cached(m, chunk, r.receive, m.other_ranks()), plan);
  }
}

/// Lines 6 to 9 of RG's figure 2.
template <Machine M>
void bcast_at_others(M& m, const TreePosition& down, const Chunk& chunk, const Reduction& r, const Plan& plan,
                     bool inlined) {
  const std::byte* result = inlined ? release(m, down, chunk.steps, chunk.bytes, plan)
                                    : m.slot(down.root, release(m, down, chunk.steps, plan));
  m.copy(at(r.receive, chunk.offset), result, chunk.bytes);
}

}  // namespace detail

/// `up` and `down` have the same root.
template <Machine M>
void allreduce_tree(M& m, const TreePosition& up, const TreePosition& down, const Reduction& r,
                    const Plan& plan) {
  const bool inlined = rides_inline(r.bytes, plan);
  up_and_down(
      m, up.is_root(), Chunks(m, r.bytes, plan, r.operation.extent),
      [&](const Chunk& chunk) { detail::reduce_and_bcast_at_root(m, up, down, chunk, r, plan, inlined); },
      [&](const Chunk& chunk) { detail::send_up(m, up, chunk, r, inlined); },
      [&](const Chunk& chunk) { detail::bcast_at_others(m, down, chunk, r, plan, inlined); });
}

}  // namespace espalier::collective
