// Scatterv: scatter's stream of blocks, in front of which the root says where in it each rank's block begins;
// how long it is, the rank knows. Or, with long blocks, where in the root's memory each is to be read.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/core/open_chunks.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/rooted/scatter.hpp"

namespace espalier::collective {

namespace detail {

using Place64 = std::uint64_t;

/// Where the blocks are.
enum class Stream : Place64 { in_slots, in_line, in_memory };

/// What lies in front: a Stream, in the flag line, and where each block begins: there too where it fits, for
/// a reader that has to look elsewhere first gets its block a cache miss later.
inline std::size_t scatterv_head(int ranks) {
  return (static_cast<std::size_t>(ranks) + 1) * sizeof(Place64);
}
inline bool head_rides_inline(int ranks) { return scatterv_head(ranks) <= memory::inline_capacity; }
/// How much of it is in the first slot.
inline std::size_t head_in_slot(int ranks) {
  return head_rides_inline(ranks) ? 0 : whole_lines(scatterv_head(ranks));
}

inline void put(std::byte* head, int index, Place64 value) {
  std::memcpy(head + static_cast<std::size_t>(index) * sizeof value, &value, sizeof value);
}
inline Place64 get(const std::byte* head, int index) {
  Place64 value;
  std::memcpy(&value, head + static_cast<std::size_t>(index) * sizeof value, sizeof value);
  return value;
}

/// The blocks follow from `begin` on.
template <Machine M, class B>
void write_head(M& m, std::byte* head, const B& blocks, std::size_t begin) {
  for (int rank = 0; rank < m.size(); ++rank) {
    put(head, 1 + rank, begin);
    if (rank != m.rank()) begin += blocks.bytes_of(rank);
  }
}

/// Whether others may read where all blocks for them lie, as one range.
template <Machine M, class B>
bool can_expose_blocks(M& m, const void* send, const B& blocks, const Plan& plan) {
  std::size_t begin = SIZE_MAX, end = 0;
  for (const int peer : m.other_ranks()) {
    if (blocks.bytes_of(peer) == 0) continue;
    begin = std::min(begin, blocks.offset_of(peer));
    end = std::max(end, blocks.offset_of(peer) + blocks.bytes_of(peer));
  }
  return m.can_expose(at(send, begin), end - begin, by_kernel(plan));
}

/// The root's blocks, or one that is long, are read where they lie; it leaves when all have been.
template <Machine M, class B>
void expose_blocks(M& m, const void* send, const B& blocks, const OpenChunks& chunks) {
  const Chunk front = chunks.chunk(0, scatterv_head(m.size()));
  m.reserve(front.steps);
  std::byte* line = m.inline_buffer(Channel::gather, front.step());
  std::byte* head = head_rides_inline(m.size()) ? line : m.slot(m.rank(), front.steps);
  put(line, 0, static_cast<Place64>(Stream::in_memory));
  for (const int peer : m.other_ranks())
    put(head, 1 + peer, reinterpret_cast<Place64>(at(send, blocks.offset_of(peer))));
  m.publish(Channel::gather, front.step());
  m.finish(chunks.last());
  for (const int peer : m.other_ranks())
    if (blocks.bytes_of(peer) > 0) m.await_finish(peer, chunks.last());
}

/// The root's blocks by the slots or, if they are few bytes, by the flag line.
template <Machine M, class B>
void send_stream(M& m, const void* send, const B& blocks, const OpenChunks& chunks, const Plan& plan) {
  std::size_t total = 0;
  for (const int peer : m.other_ranks()) total += blocks.bytes_of(peer);
  const std::size_t head = scatterv_head(m.size());
  const bool inlined = rides_inline(head + total, plan);
  const std::size_t begin = inlined ? head : head_in_slot(m.size()), end = begin + total;
  const std::size_t count = total > 0 ? chunks.count(end) : 0;
  Cursor cursor{0, begin};
  for (std::size_t i = 0; i < count; ++i) {
    const Chunk chunk = chunks.chunk(i, end);
    m.reserve(chunk.steps);
    std::byte* line = m.inline_buffer(Channel::gather, chunk.step());
    std::byte* data = inlined ? line : m.slot(m.rank(), chunk.steps);
    if (i == 0) {
      write_head(m, head_rides_inline(m.size()) ? line : data, blocks, begin);
      put(line, 0, static_cast<Place64>(inlined ? Stream::in_line : Stream::in_slots));
    }
    const std::span<const int> to = write_stream(m, chunk.steps, data, send, blocks, chunk, cursor);
    if (!inlined) m.flush_for_readers(data, chunk.bytes);
    m.publish(Channel::gather, chunk.step());
    m.set_readers(chunk.steps, i == 0 ? m.other_ranks() : to);  // all look at what is in front
  }
  m.finish(chunks.last());
  m.prefetch_own_next(Channel::gather, chunks.chunk(0, end).steps, end, chunks.chunk_bytes());
}

template <Machine M>
void await_all(M& m, Step last) {
  for (const int peer : m.other_ranks()) m.await_finish(peer, last);
}

}  // namespace detail

/// False where the slots have no room for what goes in front: so many ranks, such small slots.
template <Machine M>
bool scatterv_fits(const M& m) {
  return detail::head_in_slot(m.size()) <= m.slot_bytes() * static_cast<std::size_t>(m.slots());
}

/// Blocks that can be exposed are.
struct AlwaysLent {
  template <class Expose, class Stream, class Over>
  void run(std::size_t /*bytes*/, const Expose& expose, const Stream& /*stream*/,
           const Over& /*over*/) const {
    expose();
  }
};

/// At the root, whose own block goes to `receive`, unless that is where it lies. `B`: Blocks or EqualBlocks.
/// `Ways`: whether blocks that can be exposed are, or go through the slots after all, which the root alone
/// decides (runtime/node/adaptive_choice.hpp).
template <Machine M, class B, class Ways = AlwaysLent>
void send_scatterv(M& m, const void* send, void* receive, const B& blocks, const Plan& plan,
                   Ways&& ways = {}) {
  if (m.size() == 2)  // both know how long the only block is that is not the root's
    if (const std::size_t other = blocks.bytes_of(1 - m.rank()); !is_exposed(other, plan))
      return send_scatter(m, send, receive, blocks, other, plan);
  const OpenChunks chunks(m, plan, detail::head_in_slot(m.size()));
  std::size_t longest = 0;
  for (const int peer : m.other_ranks()) longest = std::max(longest, blocks.bytes_of(peer));
  const auto expose = [&] { detail::expose_blocks(m, send, blocks, chunks); };
  const auto stream = [&] { detail::send_stream(m, send, blocks, chunks, plan); };
  const auto over = [&] { detail::await_all(m, chunks.last()); };
  if (!is_exposed(longest, plan) || !detail::can_expose_blocks(m, send, blocks, plan))
    stream();
  else if (plan.or_slots)
    ways.run(longest, expose, stream, over);
  else
    expose();
  if (const std::size_t bytes = blocks.bytes_of(m.rank()); bytes > 0)
    copy_own(m, at(receive, 0), at(send, blocks.offset_of(m.rank())), Part{0, bytes});
}

template <Machine M>
void receive_scatterv(M& m, int root, void* receive, std::size_t bytes, const Plan& plan) {
  using detail::Stream;
  if (m.size() == 2 && !is_exposed(bytes, plan))
    return receive_scatter(m, root, receive, 0, bytes, bytes, plan);
  const OpenChunks chunks(m, plan, detail::head_in_slot(m.size()));
  if (bytes == 0) return m.finish(chunks.last());
  const Chunk front = chunks.chunk(0, chunks.chunk_bytes());
  m.await(Channel::gather, root, front.step());
  const std::byte* line = m.inline_data(Channel::gather, root, front.step());
  const auto stream = static_cast<Stream>(detail::get(line, 0));
  const std::byte* head = detail::head_rides_inline(m.size()) ? line : m.slot(root, front.steps);
  const std::size_t begin = detail::get(head, 1 + m.rank());
  if (stream == Stream::in_memory) {
    pull_block(m, root, receive, begin, bytes);
    return m.finish(chunks.last());
  }
  // The root may need the first slot again before it comes to this rank's block.
  if (begin >= chunks.chunk_bytes()) m.finish(front.step());
  for (std::size_t done = 0; done < bytes;) {
    const Chunk chunk = chunks.chunk(chunks.index_of(begin + done), begin + bytes);
    const Part part = detail::overlap(begin, bytes, chunk);
    m.await(Channel::gather, root, chunk.step());
    const std::byte* data = stream == Stream::in_line ? line : m.slot(root, chunk.steps);
    m.copy(at(receive, part.offset), data + (begin + part.offset - chunk.offset), part.bytes);
    m.finish(chunk.step());
    done += part.bytes;
  }
  m.finish(chunks.last());
  m.prefetch_read_next(front.steps, begin + bytes, chunks.chunk_bytes());
}

}  // namespace espalier::collective
