// Scatterv: scatter's stream of blocks, in front of which the root says where in it each rank's block begins;
// how long it is, the rank knows.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/open_chunks.hpp"
#include "collective/scatter.hpp"

namespace espalier::collective {

namespace detail {

using Place64 = std::uint64_t;

/// What lies in front of the stream: whether all of it rides in the flag line, and where each block begins.
inline std::size_t scatterv_head(int ranks) {
  return (static_cast<std::size_t>(ranks) + 1) * sizeof(Place64);
}

inline void put(std::byte* head, int index, Place64 value) {
  std::memcpy(head + static_cast<std::size_t>(index) * sizeof value, &value, sizeof value);
}
inline Place64 get(const std::byte* head, int index) {
  Place64 value;
  std::memcpy(&value, head + static_cast<std::size_t>(index) * sizeof value, sizeof value);
  return value;
}

/// Returns where the stream ends.
template <Machine M, class B>
std::size_t write_head(M& m, std::byte* head, const B& blocks) {
  std::size_t end = scatterv_head(m.size());
  for (int rank = 0; rank < m.size(); ++rank) {
    put(head, 1 + rank, end);
    if (rank != m.rank()) end += blocks.bytes_of(rank);
  }
  return end;
}

}  // namespace detail

/// False where the slots have no room for what goes in front: so many ranks, such small slots.
template <Machine M>
bool scatterv_fits(const M& m) {
  return detail::scatterv_head(m.size()) <= m.slot_bytes() * static_cast<std::size_t>(m.slots());
}

/// At the root, whose own block goes to `receive`, unless that is where it lies.
template <Machine M, class B>
void send_scatterv(M& m, const void* send, void* receive, const B& blocks, const Plan& plan) {
  const std::size_t head = detail::scatterv_head(m.size());
  const OpenChunks chunks(m, plan, head);
  std::size_t end = head;
  for (const int peer : m.everybody_else()) end += blocks.bytes_of(peer);
  const std::size_t count = end > head ? chunks.count(end) : 0;
  const bool inlined = rides_inline(end, plan);
  detail::Cursor cursor{0, head};
  for (std::size_t i = 0; i < count; ++i) {
    const Chunk chunk = chunks.chunk(i, end);
    m.reserve(chunk.first, chunk.span);
    std::byte* line = m.inline_buffer(Channel::gather, chunk.step());
    std::byte* data = inlined ? line : m.slot(m.rank(), chunk.first);
    if (i == 0) {
      detail::write_head(m, data, blocks);
      detail::put(line, 0, inlined);
    }
    const std::span<const int> to = detail::write_stream(m, data, send, blocks, chunk, cursor);
    if (!inlined) m.hand_over(data, chunk.bytes);
    m.publish(Channel::gather, chunk.step());
    m.lend(chunk.first, chunk.span, i == 0 ? m.everybody_else() : to);  // all look at what is in front
  }
  m.finish(chunks.last());
  copy_own(m, at(receive, 0), at(send, blocks.offset_of(m.rank())), Part{0, blocks.bytes_of(m.rank())});
}

template <Machine M>
void receive_scatterv(M& m, int root, void* receive, std::size_t bytes, const Plan& plan) {
  const OpenChunks chunks(m, plan, detail::scatterv_head(m.size()));
  if (bytes == 0) return m.finish(chunks.last());
  const Chunk front = chunks.chunk(0, chunks.chunk_bytes());
  m.await(Channel::gather, root, front.step());
  const std::byte* line = m.inline_data(Channel::gather, root, front.step());
  const bool inlined = detail::get(line, 0) != 0;
  const std::size_t begin = detail::get(inlined ? line : m.slot(root, front.first), 1 + m.rank());
  // The root may need the first slot again before it comes to this rank's block.
  if (begin >= chunks.chunk_bytes()) m.finish(front.step());
  for (std::size_t done = 0; done < bytes;) {
    const Chunk chunk = chunks.chunk((begin + done) / chunks.chunk_bytes(), begin + bytes);
    const Part part = detail::overlap(begin, bytes, chunk);
    m.await(Channel::gather, root, chunk.step());
    const std::byte* data = inlined ? line : m.slot(root, chunk.first);
    m.copy(at(receive, part.offset), data + (begin + part.offset - chunk.offset), part.bytes);
    m.finish(chunk.step());
    done += part.bytes;
  }
  m.finish(chunks.last());
}

}  // namespace espalier::collective
