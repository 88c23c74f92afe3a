// Scatter: the root's slots carry the blocks of all others one after the other, as one stream, and each rank
// waits for the steps that carry its own. So ranks are switched in for their own data only, and short blocks
// share one step.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/one_way.hpp"
#include "collective/core/readers.hpp"

namespace espalier::collective {

namespace detail {

/// The part in the chunk of a block that begins at `begin` in the stream.
inline Part overlap(std::size_t begin, std::size_t bytes, const Chunk& chunk) {
  const std::size_t first = std::max(begin, chunk.offset);
  const std::size_t end = std::min(begin + bytes, chunk.offset + chunk.bytes);
  return first < end ? Part{first - begin, end - first} : Part{0, 0};
}

/// The next block of the stream: whose, and where it begins.
struct Cursor {
  int rank = 0;
  std::size_t begin = 0;
};

/// Writes the root's next chunk to `data`, in rank order; returns its readers.
template <Machine M, class B>
std::span<const int> write_stream(M& m, const Steps& steps, std::byte* data, const void* send,
                                  const B& blocks, const Chunk& chunk, Cursor& cursor) {
  int first = -1, last = -1;
  for (; cursor.rank < m.size(); ++cursor.rank) {
    if (cursor.rank == m.rank()) continue;
    const std::size_t bytes = blocks.bytes_of(cursor.rank);
    const Part part = overlap(cursor.begin, bytes, chunk);
    if (part.bytes > 0) {
      m.write_slot(steps, data + (cursor.begin + part.offset - chunk.offset),
                   at(send, blocks.offset_of(cursor.rank) + part.offset), part.bytes);
      if (first < 0) first = cursor.rank;
      last = cursor.rank;
    }
    if (cursor.begin + bytes > chunk.offset + chunk.bytes) break;  // the block goes on in the next chunk
    cursor.begin += bytes;
  }
  return last < 0 ? std::span<const int>() : readers(m, first, last);
}

// The root announces on its gather line, which no other rank ever writes. Its release line will not do: a
// parent in a later call may write that one while a slow rank still reads the data in it.

/// All blocks in the root's line.
template <Machine M, class B>
void scatter_inline(M& m, const void* send, const B& blocks) {
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  m.reserve(steps);
  write_others(m, m.inline_buffer(Channel::gather, step), send, blocks);
  m.publish(Channel::gather, step);
  m.set_readers(steps, m.other_ranks());
  m.finish(step);
  m.prefetch_own_line(Channel::gather);
}

template <Machine M>
void receive_inline(M& m, int root, void* receive, std::size_t begin, std::size_t bytes) {
  const Step step = m.advance(1).last();
  m.await(Channel::gather, root, step);
  m.copy(receive, m.inline_data(Channel::gather, root, step) + begin, bytes);
  m.finish(step);
}

/// `publish(own)` announces it.
template <Machine M, class B, class Publish>
Steps scatter_chunk(M& m, const void* send, const B& blocks, const Chunk& chunk, Cursor& cursor,
                    const Publish& publish) {
  const Steps own = m.reserve(chunk.steps);
  std::byte* data = m.slot(m.rank(), own);
  const std::span<const int> to = write_stream(m, own, data, send, blocks, chunk, cursor);
  m.flush_for_readers(data, chunk.bytes);
  publish(own);
  m.set_readers(own, to);
  return own;
}
template <Machine M, class B>
Steps scatter_chunk(M& m, const void* send, const B& blocks, const Chunk& chunk, Cursor& cursor) {
  return scatter_chunk(m, send, blocks, chunk, cursor,
                       [&](const Steps& own) { m.publish(Channel::gather, own); });
}

/// Receives `part` of this rank's block, which begins at `begin` in the stream, from the chunk.
template <Machine M>
Steps receive_chunk(M& m, int root, void* receive, std::size_t begin, const Part& part, const Chunk& chunk) {
  const Steps there = m.await(Channel::gather, root, chunk.steps);
  m.copy(at(receive, part.offset), m.slot(root, there) + (begin + part.offset - chunk.offset), part.bytes);
  return there;
}

}  // namespace detail

/// At the root. `stream`: the bytes of all blocks for others. The root's own block goes to `receive`, unless
/// it lies there already.
template <Machine M, class B>
void send_scatter(M& m, const void* send, void* receive, const B& blocks, std::size_t stream,
                  const Plan& plan) {
  if (stream > 0 && rides_inline(stream, plan)) {
    detail::scatter_inline(m, send, blocks);
  } else {
    detail::Cursor cursor;
    send_in_chunks(m, Channel::gather, Chunks(m, stream, plan),
                   [&](const Chunk& chunk) { return detail::scatter_chunk(m, send, blocks, chunk, cursor); });
  }
  copy_own(m, at(receive, 0), at(send, blocks.offset_of(m.rank())), Part{0, blocks.bytes_of(m.rank())});
}

/// At the others. This rank's block is `bytes` from `begin` on in a stream of `stream` bytes.
template <Machine M>
void receive_scatter(M& m, int root, void* receive, std::size_t begin, std::size_t bytes, std::size_t stream,
                     const Plan& plan) {
  if (stream == 0) return;
  if (rides_inline(stream, plan)) return detail::receive_inline(m, root, receive, begin, bytes);
  Steps last;
  const Chunks chunks(m, stream, plan);
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next_one_way(m, i);
    if (const Part part = detail::overlap(begin, bytes, chunk); part.bytes > 0)
      last = detail::receive_chunk(m, root, receive, begin, part, chunk);
    m.finish(chunk.step());
  }
  m.prefetch_read_next(last, bytes, chunks.chunk_bytes());
}

/// `bytes` to each rank.
template <Machine M>
void scatter(M& m, int root, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  const EqualBlocks blocks{bytes};
  const std::size_t stream = blocks.offset_of(m.size() - 1);
  if (m.rank() == root) return send_scatter(m, send, receive, blocks, stream, plan);
  const std::size_t begin = blocks.offset_of(m.rank() < root ? m.rank() : m.rank() - 1);
  receive_scatter(m, root, receive, begin, bytes, stream, plan);
}

}  // namespace espalier::collective
