// Gatherv: as gather, but only the root and a block's owner know the length of the block, each for itself; the root
// compares. It can also read long blocks where they lie.
#pragma once

#include "collective/core/block_lengths.hpp"
#include "collective/core/open_chunks.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/rooted/gather.hpp"

namespace espalier::collective {

namespace detail {

// As leave_in_line() and leave_chunk(), where the first line of the block says how long it is.

template <Machine M>
void leave_block_in_line(M& m, int root, const void* send, std::size_t bytes, const Steps& steps) {
  m.reserve(steps);
  m.copy(m.inline_buffer(Channel::gather, steps.last()), send, bytes);
  m.publish_block(Channel::gather, steps.last(), bytes);
  m.set_readers(steps, readers(m, root, root));
}
template <Machine M>
Steps leave_chunk_of_block(M& m, int root, const void* send, std::size_t bytes, const Chunk& chunk) {
  if (chunk.offset > 0) return leave_chunk(m, root, send, chunk);
  const Steps own = copy_in(m, chunk, send, readers(m, root, root));
  m.publish_block(Channel::gather, own, bytes);
  return own;
}

/// The first of them has been awaited.
template <Machine M>
void fetch_block_from_line(M& m, int peer, void* target, std::size_t bytes, const Steps& steps) {
  m.copy(target, m.inline_data(Channel::gather, peer, steps.last()), bytes);
}
template <Machine M>
Steps fetch_chunk_of_block(M& m, int peer, void* target, const Chunk& chunk) {
  if (chunk.offset > 0) return fetch_chunk(m, peer, target, chunk);
  const Steps there = m.found(Channel::gather, peer, chunk.steps);
  copy_out(m, peer, there, chunk, target);
  return there;
}

/// Leaves for the root, or fetches there, a chunk of a block of `bytes`: in the flag line if the whole block
/// rides there.
template <Machine M>
void leave_part(M& m, int root, const void* send, std::size_t bytes, const Chunk& chunk, const Plan& plan) {
  if (rides_inline(bytes, plan))
    leave_block_in_line(m, root, send, bytes, chunk.steps);
  else
    leave_chunk_of_block(m, root, send, bytes, chunk);
}
template <Machine M>
void fetch_part(M& m, int peer, void* target, std::size_t bytes, const Chunk& chunk, const Plan& plan) {
  if (rides_inline(bytes, plan))
    fetch_block_from_line(m, peer, target, bytes, chunk.steps);
  else
    fetch_chunk_of_block(m, peer, target, chunk);
}

/// Fetches chunk `index` of each block that has one. The first time it hears how long the blocks are.
template <Machine M, class B>
void gather_chunk_of_each(M& m, void* receive, const B& blocks, std::size_t index, const OpenChunks& chunks,
                          ReceivedLengths& lengths, ExposedBlocks& exposed, const Plan& plan) {
  for (const int peer : m.other_ranks()) {
    const std::size_t expected = blocks.bytes_of(peer);
    std::size_t bytes = lengths.of(peer, expected);
    if (index * chunks.chunk_bytes() >= bytes || (index > 0 && rides_inline(bytes, plan))) continue;
    if (index == 0) {
      bytes = m.await_block(Channel::gather, peer, chunks.steps(0).last(), expected);
      if (bytes != expected) [[unlikely]]
        lengths.note(peer, bytes);
      if (bytes == 0) [[unlikely]]
        continue;
    }
    const Chunk chunk = chunks.chunk(index, bytes);
    std::byte* target = at(receive, blocks.offset_of(peer));
    if (is_exposed(bytes, plan) && exposed.is_fetched(m, peer, target, bytes, index, chunk)) continue;
    fetch_part(m, peer, target, bytes, chunk, plan);
  }
}

/// Of two ranks, whose block is not exposed: as send_gather() and receive_gather(). `bytes`: of the block, whose first
/// line the root has awaited.
template <Machine M>
[[gnu::flatten]] void send_block_of_two(M& m, int root, const void* send, std::size_t bytes,
                                        const Plan& plan) {
  if (bytes == 0) return;
  if (rides_inline(bytes, plan)) {
    const Steps steps = m.advance(1);
    leave_block_in_line(m, root, send, bytes, steps);
    m.finish(steps.last());
    return m.prefetch_own_line(Channel::gather);
  }
  send_in_chunks(m, Channel::gather, Chunks(m, bytes, plan),
                 [&](const Chunk& chunk) { return leave_chunk_of_block(m, root, send, bytes, chunk); });
}
template <Machine M, class B>
[[gnu::flatten]] void receive_block_of_two(M& m, OwnBlock<M> own, void* receive, const B& blocks,
                                           std::size_t bytes, const Plan& plan) {
  const auto fetch = [&](int peer, void* target, const Chunk& chunk) {
    return fetch_chunk_of_block(m, peer, target, chunk);
  };
  if (bytes == 0 || !rides_inline(bytes, plan))
    return gather_chunks_at_root(m, own, receive, blocks, Chunks(m, bytes, plan), fetch);
  const Steps steps = m.advance(1);
  const int peer = 1 - m.rank();
  own.copy_rest();
  fetch_block_from_line(m, peer, at(receive, blocks.offset_of(peer)), bytes, steps);
  m.finish(steps.last());
}

/// Of two ranks, whose block fits in a line as the root expects it: as gather_inline_at_root(). A shorter block is in the
/// line, too.
template <Machine M, class B>
[[gnu::flatten]] void gather_block_from_line(M& m, const void* own, void* receive, const B& blocks,
                                             std::size_t expected) {
  const int peer = 1 - m.rank();
  copy_own(m, at(receive, blocks.offset_of(m.rank())), own, Part{0, blocks.bytes_of(m.rank())});
  const std::size_t bytes = await_first_line(m, peer, expected, 1);
  if (bytes == 0) [[unlikely]]
    return;
  const Steps steps = m.advance(1);
  fetch_block_from_line(m, peer, at(receive, blocks.offset_of(peer)), bytes, steps);
  m.finish(steps.last());
}

/// Of two ranks, before any step is taken: how long the other's block is. The root goes the way that the other has
/// taken by its length. Meanwhile it copies what of its own block goes ahead.
template <Machine M>
std::size_t await_block_of_two(M& m, OwnBlock<M>& own, std::size_t expected, const Plan& plan) {
  if (expected == 0) return 0;
  const bool exposed = is_exposed(expected, plan);
  if (!exposed) own.copy_ahead_of(0, std::min(expected, plan.chunk));
  const int span = exposed ? OpenChunks::span_by(m, plan) : span_of_block(m, expected, plan);
  return await_first_line(m, 1 - m.rank(), expected, span);
}

}  // namespace detail

/// Sends the block of a rank that is not the root. If the block is exposed (zero_copy_blocks.hpp), the rank
/// waits until the root has read it, for after the call the program may change it.
template <Machine M>
void send_gatherv(M& m, int root, const void* send, std::size_t bytes, const Plan& plan) {
  if (m.size() == 2 && !is_exposed(bytes, plan)) return detail::send_block_of_two(m, root, send, bytes, plan);
  const OpenChunks chunks(m, plan);
  const std::size_t count = rides_inline(bytes, plan) ? bytes > 0 : chunks.count(bytes);
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
  if (m.size() == 2) {  // both ranks know the length of the only block that moves
    if (const std::size_t expected = blocks.bytes_of(1 - m.rank()); is_in_line(expected, plan))
      return detail::gather_block_from_line(m, own, receive, blocks, expected);
    detail::OwnBlock<M> mine = detail::own_block(m, own, receive, blocks);
    const std::size_t other = detail::await_block_of_two(m, mine, blocks.bytes_of(1 - m.rank()), plan);
    if (!is_exposed(other, plan)) return detail::receive_block_of_two(m, mine, receive, blocks, other, plan);
  }
  const OpenChunks chunks(m, plan);
  const std::size_t longest = largest_of(blocks, m.size());
  const std::size_t count = chunks.count(longest);
  ReceivedLengths lengths;
  ExposedBlocks exposed;
  for (std::size_t i = 0; i < count; ++i) {
    copy_own(m, at(receive, blocks.offset_of(m.rank())), own,
             part_of(blocks.bytes_of(m.rank()), i, chunks.chunk_bytes()));
    detail::gather_chunk_of_each(m, receive, blocks, i, chunks, lengths, exposed, plan);
    m.finish(chunks.steps(i).last());
  }
  m.finish(chunks.last());
  m.prefetch_read_next(chunks.steps(0), longest, chunks.chunk_bytes());
}

}  // namespace espalier::collective
