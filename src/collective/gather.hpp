// Gather and gatherv: every rank leaves its block in its slots and goes; the root copies them straight into
// its buffer. Or the root reads long blocks where they lie.
#pragma once

#include "collective/blocks.hpp"
#include "collective/lent_blocks.hpp"
#include "collective/open_chunks.hpp"
#include "collective/readers.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
void leave_chunk(M& m, int root, const void* send, const Chunk& chunk, bool inlined) {
  m.reserve(chunk.first, chunk.span);
  if (inlined) {
    m.publish_inline(Channel::gather, chunk.step(), at(send, chunk.offset), chunk.bytes);
  } else {
    std::byte* slot = m.slot(m.rank(), chunk.first);
    m.show(slot, at(send, chunk.offset), chunk.bytes);
    m.hand_over(slot, chunk.bytes);
    m.publish(Channel::gather, chunk.step());
  }
  m.lend(chunk.first, chunk.span, readers(m, root, root));
}

template <Machine M>
void fetch_chunk(M& m, int peer, std::byte* target, const Chunk& chunk, bool inlined) {
  m.await(Channel::gather, peer, chunk.step());
  if (!inlined) m.open_pages(m.slot(peer, chunk.first), chunk.bytes);
  m.copy(target + chunk.offset,
         inlined ? m.inline_data(Channel::gather, peer, chunk.step()) : m.slot(peer, chunk.first),
         chunk.bytes);
}

}  // namespace detail

/// `bytes` of each rank. The root's own block may be in its place in `receive` already.
template <Machine M>
void gather(M& m, int root, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  const EqualBlocks blocks{bytes};
  const bool inlined = rides_inline(bytes, plan);
  const Chunks chunks(m, bytes, plan);
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next(m, i);
    if (m.rank() != root) {
      detail::leave_chunk(m, root, send, chunk, inlined);
    } else {
      // Its own first, while the others still copy theirs into their slots.
      copy_own(m, at(receive, blocks.offset_of(root)), send, Part{chunk.offset, chunk.bytes});
      for (const int peer : m.everybody_else())
        detail::fetch_chunk(m, peer, at(receive, blocks.offset_of(peer)), chunk, inlined);
    }
    m.finish(chunk.step());
  }
  if (m.rank() != root) return m.own_next(Channel::gather, bytes, chunks.chunk_bytes());
  m.read_next(bytes, chunks.chunk_bytes());
}

/// The block of a rank that is not the root: only the root and the rank know how long it is. A lent one (see
/// lent_blocks.hpp) is the rank's own again when the root has read it, so then the rank waits for that.
template <Machine M>
void send_gatherv(M& m, int root, const void* send, std::size_t bytes, const Plan& plan) {
  const OpenChunks chunks(m, plan);
  const std::size_t count = chunks.count(bytes);
  if (is_lent(bytes, plan) && lend_block(m, send, bytes, chunks.chunk(0, bytes), plan)) {
    m.finish(chunks.last());
    return m.await_finish(root, chunks.chunk(0, bytes).step());
  }
  for (std::size_t i = 0; i < count; ++i)
    detail::leave_chunk(m, root, send, chunks.chunk(i, bytes), rides_inline(bytes, plan));
  m.finish(chunks.last());
  m.own_next(Channel::gather, bytes, chunks.chunk_bytes());
}

/// `B`: Blocks or EqualBlocks.
template <Machine M, class B>
void receive_gatherv(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  const OpenChunks chunks(m, plan);
  const std::size_t longest = largest_of(blocks, m.size());
  const std::size_t count = chunks.count(longest);
  LentBlocks lent;
  for (std::size_t i = 0; i < count; ++i) {
    // Its own first, while the others still copy theirs into their slots.
    if (const Part part = part_of(blocks.bytes_of(m.rank()), i, chunks.chunk_bytes()); part.bytes > 0)
      copy_own(m, at(receive, blocks.offset_of(m.rank())), own, part);
    for (const int peer : m.everybody_else()) {
      const std::size_t bytes = blocks.bytes_of(peer);
      if (i * chunks.chunk_bytes() >= bytes) continue;
      const Chunk chunk = chunks.chunk(i, bytes);
      std::byte* target = at(receive, blocks.offset_of(peer));
      if (is_lent(bytes, plan) &&
          (i == 0 ? lent.fetch(m, peer, target, bytes, chunk) : !lent.comes_through_slots(peer)))
        continue;
      detail::fetch_chunk(m, peer, target, chunk, rides_inline(bytes, plan));
    }
    m.finish(chunks.chunk(i, (i + 1) * chunks.chunk_bytes()).step());
  }
  m.finish(chunks.last());
  m.read_next(longest, chunks.chunk_bytes());
  lent.report(m);
}

}  // namespace espalier::collective
