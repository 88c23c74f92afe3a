// Gather: every rank leaves its block in its slots and goes; the root copies them straight into its buffer.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"
#include "collective/core/readers.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
Steps leave_chunk(M& m, int root, const void* send, const Chunk& chunk, bool inlined) {
  const Steps steps = m.reserve(chunk.steps);
  if (inlined) {
    m.publish_inline(Channel::gather, steps.last(), at(send, chunk.offset), chunk.bytes);
  } else {
    std::byte* slot = m.slot(m.rank(), steps);
    m.write_slot(steps, slot, at(send, chunk.offset), chunk.bytes);
    m.flush_for_readers(slot, chunk.bytes);
    m.publish(Channel::gather, steps);
  }
  m.set_readers(steps, readers(m, root, root));
  return steps;
}

template <Machine M>
Steps fetch_chunk(M& m, int peer, std::byte* target, const Chunk& chunk, bool inlined) {
  const Steps steps = m.await(Channel::gather, peer, chunk.steps);
  const std::byte* data = inlined ? m.inline_data(Channel::gather, peer, steps.last()) : m.slot(peer, steps);
  if (!inlined) m.prefault(data, chunk.bytes);
  m.copy(target + chunk.offset, data, chunk.bytes);
  return steps;
}

template <Machine M>
[[gnu::flatten]] void leave_inline(M& m, int root, const void* send, std::size_t bytes) {
  const Chunk whole{.bytes = bytes, .steps = m.advance(1)};
  leave_chunk(m, root, send, whole, true);
  m.finish(whole.step());
  m.prefetch_line_next(Channel::gather);
}

/// Own data first, here and below, while the others still copy theirs.
template <Machine M, class B>
[[gnu::flatten]] void fetch_inline(M& m, const void* own, void* receive, const B& blocks, std::size_t bytes) {
  const Chunk whole{.bytes = bytes, .steps = m.advance(1)};
  copy_own(m, at(receive, blocks.offset_of(m.rank())), own, Part{0, blocks.bytes_of(m.rank())});
  for (const int peer : m.everybody_else())
    fetch_chunk(m, peer, at(receive, blocks.offset_of(peer)), whole, true);
  m.finish(whole.step());
}

/// The root's own block goes along with the others', a few chunks ahead: so much it copies while their first
/// ones are still on the way (docs/performance.md).
template <Machine M, class B>
Steps fetch_in_chunks(M& m, const void* own, void* receive, const B& blocks, const Chunks& chunks) {
  constexpr std::size_t ahead = 3;
  const std::size_t mine = blocks.bytes_of(m.rank());
  std::byte* place = at(receive, blocks.offset_of(m.rank()));
  std::size_t done = 0;
  const auto copy_own_until = [&](std::size_t end) {
    copy_own(m, place, own, Part{done, std::min(end, mine) - done});
    done = std::min(end, mine);
  };
  Steps last;
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next_one_way(m, i);
    copy_own_until((i + 1 + ahead) * chunks.chunk_bytes());
    for (const int peer : m.everybody_else())
      last = fetch_chunk(m, peer, at(receive, blocks.offset_of(peer)), chunk, false);
    m.finish(chunk.step());
  }
  copy_own_until(mine);
  return last;
}

}  // namespace detail

/// A rank that is not the root.
template <Machine M>
void send_gather(M& m, int root, const void* send, std::size_t bytes, const Plan& plan) {
  if (bytes == 0) return;
  if (rides_inline(bytes, plan)) return detail::leave_inline(m, root, send, bytes);
  const Chunks chunks(m, bytes, plan);
  Steps last;
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next_one_way(m, i);
    last = detail::leave_chunk(m, root, send, chunk, false);
    m.finish(chunk.step());
  }
  m.prefetch_own_next(Channel::gather, last, bytes, chunks.chunk_bytes());
}

/// The root, with blocks of `bytes` for all others; of its own it may have more or less. That may be in its
/// place in `receive` already.
template <Machine M, class B>
void receive_gather(M& m, const void* own, void* receive, const B& blocks, std::size_t bytes,
                    const Plan& plan) {
  if (bytes > 0 && rides_inline(bytes, plan)) return detail::fetch_inline(m, own, receive, blocks, bytes);
  const Chunks chunks(m, bytes, plan);
  const Steps last = detail::fetch_in_chunks(m, own, receive, blocks, chunks);
  m.prefetch_read_next(last, bytes, chunks.chunk_bytes());
}

/// `bytes` of each rank.
template <Machine M>
void gather(M& m, int root, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  if (m.rank() == root)
    receive_gather(m, send, receive, EqualBlocks{bytes}, bytes, plan);
  else
    send_gather(m, root, send, bytes, plan);
}

}  // namespace espalier::collective
