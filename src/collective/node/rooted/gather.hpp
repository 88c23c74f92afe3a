// Gather: every rank leaves its block in its slots and goes; the root copies them straight into its buffer.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/chunk_copies.hpp"
#include "collective/core/one_way.hpp"
#include "collective/core/readers.hpp"

namespace espalier::collective {

namespace detail {

// A chunk, or a message in a flag line, of a rank that is not the root, and what the root does with it.

template <Machine M>
Steps leave_chunk(M& m, int root, const void* send, const Chunk& chunk) {
  const Steps own = copy_in(m, chunk, send, readers(m, root, root));
  m.publish(Channel::gather, own);
  return own;
}
template <Machine M>
Steps fetch_chunk(M& m, int peer, void* target, const Chunk& chunk) {
  const Steps there = m.await(Channel::gather, peer, chunk.steps);
  copy_out(m, peer, there, chunk, target);
  return there;
}

template <Machine M>
void leave_in_line(M& m, int root, const void* send, std::size_t bytes, const Steps& steps) {
  m.reserve(steps);
  m.publish_inline(Channel::gather, steps.last(), send, bytes);
  m.set_readers(steps, readers(m, root, root));
}
template <Machine M>
void fetch_from_line(M& m, int peer, void* target, std::size_t bytes, const Steps& steps) {
  m.await(Channel::gather, peer, steps.last());
  m.copy(target, m.inline_data(Channel::gather, peer, steps.last()), bytes);
}

template <Machine M>
[[gnu::flatten]] void gather_inline_at_sender(M& m, int root, const void* send, std::size_t bytes) {
  const Steps steps = m.advance(1);
  leave_in_line(m, root, send, bytes, steps);
  m.finish(steps.last());
  m.prefetch_own_line(Channel::gather);
}

/// Own data first, here and below, while the others still copy theirs.
template <Machine M, class B>
[[gnu::flatten]] void gather_inline_at_root(M& m, const void* own, void* receive, const B& blocks,
                                            std::size_t bytes) {
  const Steps steps = m.advance(1);
  copy_own(m, at(receive, blocks.offset_of(m.rank())), own, Part{0, blocks.bytes_of(m.rank())});
  for (const int peer : m.other_ranks())
    fetch_from_line(m, peer, at(receive, blocks.offset_of(peer)), bytes, steps);
  m.finish(steps.last());
}

/// The root's own block goes along with the others', a few chunks ahead: so much it copies while their first
/// ones are still on the way (docs/performance.md).
template <Machine M>
class OwnBlock {
 public:
  OwnBlock(M& m, std::byte* place, const void* own, std::size_t bytes)
      : m_(m), place_(place), own_(own), bytes_(bytes) {}

  /// Before the chunk at `offset` is awaited, of chunks of `chunk` bytes.
  void copy_ahead_of(std::size_t offset, std::size_t chunk) {
    constexpr std::size_t ahead = 3;
    copy_until(offset + (1 + ahead) * chunk);
  }
  void copy_rest() { copy_until(bytes_); }

 private:
  void copy_until(std::size_t end) {
    copy_own(m_, place_, own_, Part{done_, std::min(end, bytes_) - done_});
    done_ = std::min(end, bytes_);
  }

  M& m_;
  std::byte* place_;
  const void* own_;
  std::size_t bytes_;
  std::size_t done_ = 0;
};
template <Machine M, class B>
OwnBlock<M> own_block(M& m, const void* own, void* receive, const B& blocks) {
  return {m, at(receive, blocks.offset_of(m.rank())), own, blocks.bytes_of(m.rank())};
}

/// `fetch(peer, target, chunk)` gets a chunk of another rank's block.
template <Machine M, class B, class Fetch>
void gather_chunks_at_root(M& m, OwnBlock<M> own, void* receive, const B& blocks, const Chunks& chunks,
                           const Fetch& fetch) {
  receive_in_chunks(m, chunks, [&](const Chunk& chunk) {
    own.copy_ahead_of(chunk.offset, chunks.chunk_bytes());
    Steps there;
    for (const int peer : m.other_ranks()) there = fetch(peer, at(receive, blocks.offset_of(peer)), chunk);
    return there;
  });
  own.copy_rest();
}

}  // namespace detail

/// A rank that is not the root.
template <Machine M>
void send_gather(M& m, int root, const void* send, std::size_t bytes, const Plan& plan) {
  if (bytes == 0) return;
  if (rides_inline(bytes, plan)) return detail::gather_inline_at_sender(m, root, send, bytes);
  send_in_chunks(m, Channel::gather, Chunks(m, bytes, plan),
                 [&](const Chunk& chunk) { return detail::leave_chunk(m, root, send, chunk); });
}

/// The root, with blocks of `bytes` for all others; of its own it may have more or less. That may be in its
/// place in `receive` already.
template <Machine M, class B>
void receive_gather(M& m, const void* own, void* receive, const B& blocks, std::size_t bytes,
                    const Plan& plan) {
  if (bytes > 0 && rides_inline(bytes, plan))
    return detail::gather_inline_at_root(m, own, receive, blocks, bytes);
  detail::gather_chunks_at_root(m, detail::own_block(m, own, receive, blocks), receive, blocks,
                                Chunks(m, bytes, plan), [&](int peer, void* target, const Chunk& chunk) {
                                  return detail::fetch_chunk(m, peer, target, chunk);
                                });
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
