// Allgather and allgatherv on trees: blocks go up packed, all of them together come down (RG II-B, II-C). Two
// lines a rank instead of one for each other rank: for short blocks of many ranks.
#pragma once

#include "collective/core/chunk_copies.hpp"
#include "collective/core/gather_parts.hpp"
#include "collective/core/packed_blocks.hpp"
#include "collective/core/tree_pipeline.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M, class B, class Packed>
void allgather_packed(M& m, const TreePositionPair& position, const void* own, void* receive, const B& blocks,
                      const Packed& packed, const Plan& plan) {
  const TreePosition &up = position.gather, &down = position.release;
  const Chunks chunks(m, packed.offset_of(m.size()), plan);
  const bool one_chunk = plan.inlined && chunks.count() == 1;
  const bool inlined = rides_inline(chunks.message_bytes(), plan);
  const auto own_part = [&](const auto& edge) { return at(own, edge.in_block(m.rank())); };
  up_and_down(
      m, up.is_root(), chunks,
      [&](const Chunk& chunk) {
        const StreamPart<Packed> edge{packed, chunk.offset, chunk.bytes};
        const std::byte* all = collect_parts(m, up, chunk.steps, own_part(edge), edge, one_chunk);
        pass_parts_down(m, down, chunk, all, inlined, plan);
        copy_to_blocks(m, all, receive, blocks, edge, 0, m.size());
      },
      [&](const Chunk& chunk) {
        const StreamPart<Packed> edge{packed, chunk.offset, chunk.bytes};
        send_parts_up(m, up, chunk.steps, own_part(edge), edge, one_chunk);
      },
      [&](const Chunk& chunk) {
        const std::byte* all = begin_reading(m, await_parts(m, down, chunk, inlined, plan), chunk.bytes);
        const StreamPart<Packed> edge{packed, chunk.offset, chunk.bytes};
        copy_to_blocks(m, all, receive, blocks, edge, 0, m.size());
      });
}

}  // namespace detail

/// `own`: this rank's block, which may be in its place in `receive` already. `position`: of trees of one root,
/// the first made by gathering_position_of().
template <Machine M, class B>
void allgather_tree(M& m, const TreePositionPair& position, const void* own, void* receive, const B& blocks,
                    const Plan& plan) {
  const std::vector<std::size_t> edges = packed_edges(blocks, m.size());
  detail::allgather_packed(m, position, own, receive, blocks, PackedBlocks{edges}, plan);
}
template <Machine M>
void allgather_tree(M& m, const TreePositionPair& position, const void* own, void* receive,
                    const EqualBlocks& blocks, const Plan& plan) {
  detail::allgather_packed(m, position, own, receive, blocks, blocks, plan);
}

}  // namespace espalier::collective
