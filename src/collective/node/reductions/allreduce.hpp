// Allreduce on trees: a reduce whose result is broadcast while the next chunk is reduced (RG II-E; III-C).
#pragma once

#include <algorithm>
#include <array>

#include "collective/core/chunk_copies.hpp"
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

/// `up` and `down` have the same root. A rank sends some chunks up before it takes the first result, so that
/// both directions are under way. These take less than the ring, so that no rank waits for a slot that only
/// its own next step frees.
template <Machine M>
void allreduce_tree(M& m, const TreePosition& up, const TreePosition& down, const Reduction& r,
                    const Plan& plan) {
  constexpr std::size_t most_ahead = 8;
  const bool inlined = rides_inline(r.bytes, plan);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  const std::size_t in_ring = static_cast<std::size_t>(m.slots() / chunks.span());
  const std::size_t ahead = std::min(in_ring / 2, most_ahead - 1);
  std::array<Chunk, most_ahead> under_way;
  for (std::size_t i = 0; i < chunks.count() + ahead; ++i) {
    if (i < chunks.count()) {
      const Chunk chunk = under_way[i % most_ahead] = chunks.next(m, i);
      if (up.is_root())
        detail::reduce_and_bcast_at_root(m, up, down, chunk, r, plan, inlined);
      else
        detail::send_up(m, up, chunk, r, inlined);
    }
    if (i >= ahead) {
      const Chunk& chunk = under_way[(i - ahead) % most_ahead];
      if (!up.is_root()) detail::bcast_at_others(m, down, chunk, r, plan, inlined);
      m.finish(chunk.step());
    }
  }
}

}  // namespace espalier::collective
