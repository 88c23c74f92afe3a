// Gatherv: gather's blocks, of lengths that only the root and their owners know. Or the root reads long
// blocks where they lie.
#pragma once

#include "collective/core/open_chunks.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/gather.hpp"

namespace espalier::collective {

/// The block of a rank that is not the root: only the root and the rank know how long it is. An exposed one
/// (see zero_copy_blocks.hpp) is the rank's own again when the root has read it, so then the rank waits for
/// that.
template <Machine M>
void send_gatherv(M& m, int root, const void* send, std::size_t bytes, const Plan& plan) {
  if (m.size() == 2 && !is_exposed(bytes, plan)) return send_gather(m, root, send, bytes, plan);
  const OpenChunks chunks(m, plan);
  const std::size_t count = chunks.count(bytes);
  if (is_exposed(bytes, plan) && expose_block(m, send, bytes, chunks.chunk(0, bytes), plan)) {
    m.finish(chunks.last());
    return m.await_finish(root, chunks.chunk(0, bytes).step());
  }
  for (std::size_t i = 0; i < count; ++i)
    detail::leave_chunk(m, root, send, chunks.chunk(i, bytes), rides_inline(bytes, plan));
  m.finish(chunks.last());
  m.prefetch_own_next(Channel::gather, chunks.chunk(0, bytes).steps, bytes, chunks.chunk_bytes());
}

/// `B`: Blocks or EqualBlocks.
template <Machine M, class B>
void receive_gatherv(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  if (m.size() == 2)  // both know how long the only block is that is not the root's
    if (const std::size_t other = blocks.bytes_of(1 - m.rank()); !is_exposed(other, plan))
      return receive_gather(m, own, receive, blocks, other, plan);
  const OpenChunks chunks(m, plan);
  const std::size_t longest = largest_of(blocks, m.size());
  const std::size_t count = chunks.count(longest);
  LentBlocks exposed;
  for (std::size_t i = 0; i < count; ++i) {
    // Its own first, while the others still copy theirs into their slots.
    if (const Part part = part_of(blocks.bytes_of(m.rank()), i, chunks.chunk_bytes()); part.bytes > 0)
      copy_own(m, at(receive, blocks.offset_of(m.rank())), own, part);
    for (const int peer : m.everybody_else()) {
      const std::size_t bytes = blocks.bytes_of(peer);
      if (i * chunks.chunk_bytes() >= bytes) continue;
      const Chunk chunk = chunks.chunk(i, bytes);
      std::byte* target = at(receive, blocks.offset_of(peer));
      if (is_exposed(bytes, plan) &&
          (i == 0 ? exposed.fetch(m, peer, target, bytes, chunk) : !exposed.comes_through_slots(peer)))
        continue;
      detail::fetch_chunk(m, peer, target, chunk, rides_inline(bytes, plan));
    }
    m.finish(chunks.chunk(i, (i + 1) * chunks.chunk_bytes()).step());
  }
  m.finish(chunks.last());
  m.prefetch_read_next(chunks.chunk(0, longest).steps, longest, chunks.chunk_bytes());
}

}  // namespace espalier::collective
