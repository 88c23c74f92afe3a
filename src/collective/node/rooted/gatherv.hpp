// Gatherv: as gather, but only the root and a block's owner know the length of the block. The root can also
// read long blocks where they lie.
#pragma once

#include "collective/core/open_chunks.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/rooted/gather.hpp"

namespace espalier::collective {

namespace detail {

/// Leaves for the root, or fetches there, a chunk of a block of `bytes`: in the flag line if the whole block
/// rides there.
template <Machine M>
void leave_part(M& m, int root, const void* send, std::size_t bytes, const Chunk& chunk, const Plan& plan) {
  if (rides_inline(bytes, plan))
    leave_in_line(m, root, send, bytes, chunk.steps);
  else
    leave_chunk(m, root, send, chunk);
}
template <Machine M>
void fetch_part(M& m, int peer, void* target, std::size_t bytes, const Chunk& chunk, const Plan& plan) {
  if (rides_inline(bytes, plan))
    fetch_from_line(m, peer, target, bytes, chunk.steps);
  else
    fetch_chunk(m, peer, target, chunk);
}

/// Fetches chunk `index` of each block that has one.
template <Machine M, class B>
void gather_chunk_of_each(M& m, void* receive, const B& blocks, std::size_t index, const OpenChunks& chunks,
                          ExposedBlocks& exposed, const Plan& plan) {
  for (const int peer : m.other_ranks()) {
    const std::size_t bytes = blocks.bytes_of(peer);
    if (index * chunks.chunk_bytes() >= bytes) continue;
    const Chunk chunk = chunks.chunk(index, bytes);
    std::byte* target = at(receive, blocks.offset_of(peer));
    if (is_exposed(bytes, plan) && exposed.is_fetched(m, peer, target, bytes, index, chunk)) continue;
    fetch_part(m, peer, target, bytes, chunk, plan);
  }
}

}  // namespace detail

/// Sends the block of a rank that is not the root. If the block is exposed (zero_copy_blocks.hpp), the rank
/// waits until the root has read it, for after the call the program may change it.
template <Machine M>
void send_gatherv(M& m, int root, const void* send, std::size_t bytes, const Plan& plan) {
  if (m.size() == 2 && !is_exposed(bytes, plan)) return send_gather(m, root, send, bytes, plan);
  const OpenChunks chunks(m, plan);
  const std::size_t count = chunks.count(bytes);
  const Chunk first = chunks.chunk(0, bytes);
  if (is_exposed(bytes, plan) && expose_block(m, send, bytes, first, plan)) {
    m.finish(chunks.last());
    return m.await_finish(root, first.step());
  }
  for (std::size_t i = 0; i < count; ++i)
    detail::leave_part(m, root, send, bytes, chunks.chunk(i, bytes), plan);
  m.finish(chunks.last());
  m.prefetch_own_next(Channel::gather, first.steps, bytes, chunks.chunk_bytes());
}

/// The root's side. It copies its own block first, while the others still copy theirs into their slots. `B`:
/// Blocks or EqualBlocks.
template <Machine M, class B>
void receive_gatherv(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  if (m.size() == 2)  // both ranks know the length of the only block that moves
    if (const std::size_t other = blocks.bytes_of(1 - m.rank()); !is_exposed(other, plan))
      return receive_gather(m, own, receive, blocks, other, plan);
  const OpenChunks chunks(m, plan);
  const std::size_t longest = largest_of(blocks, m.size());
  const std::size_t count = chunks.count(longest);
  ExposedBlocks exposed;
  for (std::size_t i = 0; i < count; ++i) {
    copy_own(m, at(receive, blocks.offset_of(m.rank())), own,
             part_of(blocks.bytes_of(m.rank()), i, chunks.chunk_bytes()));
    detail::gather_chunk_of_each(m, receive, blocks, i, chunks, exposed, plan);
    m.finish(chunks.steps(i).last());
  }
  m.finish(chunks.last());
  m.prefetch_read_next(chunks.steps(0), longest, chunks.chunk_bytes());
}

}  // namespace espalier::collective
