// Allreduce on trees: a pipelined reduce whose result is released while the next chunk is gathered (RG II-E,
// III-C).
#pragma once

#include <algorithm>
#include <array>

#include "collective/node/reduce.hpp"

namespace espalier::collective {

namespace detail {

/// At the root a chunk goes up and starts down at once.
template <Machine M>
void turn_at_root(M& m, const TreePosition& up, const TreePosition& down, const Chunk& chunk,
                  const Reduction& r, const Plan& plan, bool inlined) {
  receive_at_root(m, up, chunk, r, plan, inlined);
  const void* result = at(r.receive, chunk.offset);
  m.reserve(chunk.steps);
  if (inlined) {
    pass_down(m, down, chunk.steps, result, chunk.bytes, plan);
  } else {
    std::byte* slot = m.slot(m.rank(), chunk.steps);
    m.copy(slot, result, chunk.bytes);
    m.set_readers(chunk.steps, m.everybody_else());
    pass_down(m, down, chunk.steps, plan);
  }
}

template <Machine M>
void take_result(M& m, const TreePosition& down, const Chunk& chunk, const Reduction& r, const Plan& plan,
                 bool inlined) {
  const std::byte* data = inlined ? release(m, down, chunk.steps, chunk.bytes, plan)
                                  : m.slot(down.root, release(m, down, chunk.steps, plan));
  m.copy(at(r.receive, chunk.offset), data, chunk.bytes);
}

}  // namespace detail

/// `up` and `down` have the same root. A rank sends some chunks up before it takes the first result, so that
/// both directions are under way; less than the ring, so that no rank waits for a slot that only its own next
/// step frees.
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
        detail::turn_at_root(m, up, down, chunk, r, plan, inlined);
      else
        detail::send_up(m, up, chunk, r, inlined);
    }
    if (i >= ahead) {
      const Chunk& chunk = under_way[(i - ahead) % most_ahead];
      if (!up.is_root()) detail::take_result(m, down, chunk, r, plan, inlined);
      m.finish(chunk.step());
    }
  }
}

}  // namespace espalier::collective
