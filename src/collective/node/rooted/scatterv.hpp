// Scatterv: scatter's stream of blocks, in front of which the root says where in it each rank's block begins, and so
// where it ends. Or, with long blocks, where in the root's memory each is to be read, and how long it is. Each rank
// compares that with what it expects.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/core/block_lengths.hpp"
#include "collective/core/open_chunks.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/rooted/scatter.hpp"

namespace espalier::collective {

namespace detail {

using Place64 = std::uint64_t;

/// Where the blocks are.
enum class Stream : Place64 { in_slots, in_line, in_memory };

/// What lies in front, in 64-bit words. In the flag line: a Stream, and above its two bits where the last block
/// ends. Then where each rank's block begins, or, of blocks that are read where they lie, the address of each and how
/// long it is. All of it is in the line where it fits, for a reader that has to look elsewhere first gets its block a
/// cache miss later.
class ScattervHead {
 public:
  ScattervHead(int ranks, bool in_memory)
      : bytes_((static_cast<std::size_t>(ranks) * (in_memory ? 2 : 1) + 1) * sizeof(Place64)) {}
  std::size_t bytes() const { return bytes_; }
  bool is_in_line() const { return bytes_ <= memory::inline_capacity; }
  /// How much of it is in the first slot.
  std::size_t bytes_in_slot() const { return is_in_line() ? 0 : whole_lines(bytes_); }

 private:
  std::size_t bytes_;
};
constexpr int stream_bits = 2;
/// Room for either.
inline std::size_t head_in_slot(int ranks) { return ScattervHead(ranks, true).bytes_in_slot(); }

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

/// Announces what is in front. Of two ranks the other hears how long its block is before it looks there.
template <Machine M, class B>
void publish_front(M& m, const B& blocks, Step step) {
  if (m.size() == 2)
    m.publish_block(Channel::gather, step, blocks.bytes_of(1 - m.rank()));
  else
    m.publish(Channel::gather, step);
}

/// The root's blocks, or one that is long, are read where they lie; it leaves when all have been.
template <Machine M, class B>
void expose_blocks(M& m, const void* send, const B& blocks, const OpenChunks& chunks) {
  const ScattervHead front(m.size(), true);
  const Chunk first = chunks.chunk(0, front.bytes());
  m.reserve(first.steps);
  std::byte* line = m.inline_buffer(Channel::gather, first.step());
  std::byte* head = front.is_in_line() ? line : m.slot(m.rank(), first.steps);
  put(line, 0, static_cast<Place64>(Stream::in_memory));
  for (const int peer : m.other_ranks()) {
    put(head, 1 + 2 * peer, reinterpret_cast<Place64>(at(send, blocks.offset_of(peer))));
    put(head, 2 + 2 * peer, blocks.bytes_of(peer));
  }
  publish_front(m, blocks, first.step());
  m.set_readers(first.steps, m.other_ranks());  // also one that expects a block which the root does not have
  m.finish(chunks.last());
  for (const int peer : m.other_ranks())
    if (blocks.bytes_of(peer) > 0) m.await_finish(peer, chunks.last());
}

/// The root's blocks by the slots or, if they are few bytes, by the flag line.
template <Machine M, class B>
void send_stream(M& m, const void* send, const B& blocks, const OpenChunks& chunks, const Plan& plan) {
  std::size_t total = 0;
  for (const int peer : m.other_ranks()) total += blocks.bytes_of(peer);
  const ScattervHead front(m.size(), false);
  const bool inlined = rides_inline(front.bytes() + total, plan);
  const std::size_t begin = inlined ? front.bytes() : front.bytes_in_slot(), end = begin + total;
  const std::size_t count = total > 0 ? chunks.count(end) : 0;
  Cursor cursor{0, begin};
  for (std::size_t i = 0; i < count; ++i) {
    const Chunk chunk = chunks.chunk(i, end);
    m.reserve(chunk.steps);
    std::byte* line = m.inline_buffer(Channel::gather, chunk.step());
    std::byte* data = inlined ? line : m.slot(m.rank(), chunk.steps);
    if (i == 0) {
      write_head(m, front.is_in_line() ? line : data, blocks, begin);
      put(line, 0, static_cast<Place64>(inlined ? Stream::in_line : Stream::in_slots) | end << stream_bits);
    }
    const std::span<const int> to = write_stream(m, chunk.steps, data, send, blocks, chunk, cursor);
    if (!inlined) m.flush_for_readers(data, chunk.bytes);
    if (i == 0)
      publish_front(m, blocks, chunk.step());
    else
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

/// Of two ranks, whose block is not exposed: as send_scatter() and receive_scatter(), where the first line says how long
/// the block is. The receiver has awaited it.
template <Machine M, class B>
[[gnu::flatten]] void send_scatter_of_two(M& m, const void* send, const B& blocks, std::size_t bytes,
                                          const Plan& plan) {
  if (bytes == 0) return;
  if (rides_inline(bytes, plan)) {
    const Steps steps = m.advance(1);
    m.reserve(steps);
    write_others(m, m.inline_buffer(Channel::gather, steps.last()), send, blocks);
    m.publish_block(Channel::gather, steps.last(), bytes);
    m.set_readers(steps, m.other_ranks());
    m.finish(steps.last());
    return m.prefetch_own_line(Channel::gather);
  }
  Cursor cursor;
  send_in_chunks(m, Channel::gather, Chunks(m, bytes, plan), [&](const Chunk& chunk) {
    return scatter_chunk(m, send, blocks, chunk, cursor, [&](const Steps& own) {
      chunk.offset > 0 ? m.publish(Channel::gather, own) : m.publish_block(Channel::gather, own, bytes);
    });
  });
}
template <Machine M>
[[gnu::flatten]] void receive_scatter_of_two(M& m, int root, void* receive, std::size_t bytes,
                                             const Plan& plan) {
  if (bytes == 0) return;
  if (rides_inline(bytes, plan)) {
    const Step step = m.advance(1).last();
    m.copy(receive, m.inline_data(Channel::gather, root, step), bytes);
    return m.finish(step);
  }
  receive_in_chunks(m, Chunks(m, bytes, plan), [&](const Chunk& chunk) {
    const Steps there = chunk.offset > 0 ? m.await(Channel::gather, root, chunk.steps)
                                         : m.found(Channel::gather, root, chunk.steps);
    m.copy(at(receive, chunk.offset), m.slot(root, there), chunk.bytes);
    return there;
  });
}

/// Of two ranks, whose block fits in a line as the receiver expects it; a shorter one is in the line, too.
template <Machine M>
[[gnu::flatten]] void receive_block_from_line(M& m, int root, void* receive, std::size_t expected) {
  const std::size_t bytes = await_first_line(m, root, expected, 1);
  if (bytes == 0) [[unlikely]]
    return;
  const Step step = m.advance(1).last();
  m.copy(receive, m.inline_data(Channel::gather, root, step), bytes);
  m.finish(step);
}

/// A rank's block, as what is in front says.
struct PlacedBlock {
  Stream stream;
  Place64 begin;  ///< in the stream, or its address
  std::size_t bytes;
};
template <Machine M>
PlacedBlock find_block(M& m, int root, const Chunk& front) {
  const std::byte* line = m.inline_data(Channel::gather, root, front.step());
  const Place64 first = get(line, 0);
  const auto stream = static_cast<Stream>(first & ((1 << stream_bits) - 1));
  const bool in_memory = stream == Stream::in_memory;
  const std::byte* head = ScattervHead(m.size(), in_memory).is_in_line() ? line : m.slot(root, front.steps);
  if (in_memory) return {stream, get(head, 1 + 2 * m.rank()), get(head, 2 + 2 * m.rank())};
  const Place64 begin = get(head, 1 + m.rank());
  const Place64 end = m.rank() + 1 < m.size() ? get(head, 2 + m.rank()) : first >> stream_bits;
  return {stream, begin, end - begin};
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
  const auto keep_own = [&] {
    if (const std::size_t bytes = blocks.bytes_of(m.rank()); bytes > 0)
      copy_own(m, at(receive, 0), at(send, blocks.offset_of(m.rank())), Part{0, bytes});
  };
  if (m.size() == 2)  // both know how long the only block is that is not the root's
    if (const std::size_t other = blocks.bytes_of(1 - m.rank()); !is_exposed(other, plan)) {
      detail::send_scatter_of_two(m, send, blocks, other, plan);
      return keep_own();
    }
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
  keep_own();
}

/// `expected`: bytes. The root may have less for this rank.
template <Machine M>
void receive_scatterv(M& m, int root, void* receive, std::size_t expected, const Plan& plan) {
  using detail::Stream;
  if (m.size() == 2 && is_in_line(expected, plan))
    return detail::receive_block_from_line(m, root, receive, expected);
  if (m.size() == 2 && expected > 0) {
    const int span = is_exposed(expected, plan) ? OpenChunks::span_by(m, plan, detail::head_in_slot(m.size()))
                                                : span_of_block(m, expected, plan);
    expected = await_first_line(m, root, expected, span);
  }
  if (m.size() == 2 && !is_exposed(expected, plan))
    return detail::receive_scatter_of_two(m, root, receive, expected, plan);
  const OpenChunks chunks(m, plan, detail::head_in_slot(m.size()));
  if (expected == 0) return m.finish(chunks.last());
  const Chunk front = chunks.chunk(0, chunks.chunk_bytes());
  if (m.size() > 2 && !m.await_exactly(Channel::gather, root, front.step())) [[unlikely]]
    return m.finish(chunks.last());  // the root has nothing for any rank
  const auto [stream, begin, bytes] = detail::find_block(m, root, front);
  m.compare_lengths(root, bytes, expected);
  if (stream == Stream::in_memory) {
    if (bytes > 0) pull_block(m, root, receive, begin, bytes);
    return m.finish(chunks.last());
  }
  // The root may need the first slot again before it comes to this rank's block.
  if (begin >= chunks.chunk_bytes()) m.finish(front.step());
  for (std::size_t done = 0; done < bytes;) {
    const Chunk chunk = chunks.chunk(chunks.index_of(begin + done), begin + bytes);
    const Part part = detail::overlap(begin, bytes, chunk);
    if (chunk.offset > 0) m.await(Channel::gather, root, chunk.step());
    const std::byte* data = stream == Stream::in_line ? m.inline_data(Channel::gather, root, front.step())
                                                      : m.slot(root, chunk.steps);
    m.copy(at(receive, part.offset), data + (begin + part.offset - chunk.offset), part.bytes);
    m.finish(chunk.step());
    done += part.bytes;
  }
  m.finish(chunks.last());
  m.prefetch_read_next(front.steps, begin + bytes, chunks.chunk_bytes());
}

}  // namespace espalier::collective
