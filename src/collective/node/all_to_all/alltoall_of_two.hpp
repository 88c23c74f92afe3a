// Alltoall and alltoallv of two ranks with a core each: both know what goes either way, so each shows the
// other its block as it is.
#pragma once

#include <algorithm>

#include "collective/core/exchange_blocks.hpp"
#include "collective/node/all_to_all/counted_meeting.hpp"
#include "collective/pieces/show_pieces.hpp"

namespace espalier::collective {

namespace detail {

/// What each of two ranks has for the other, as one of them sees it.
struct BlocksOfTwo {
  int rank;
  std::size_t out, in;
  std::size_t place;  ///< of what comes in; what goes out has none
  std::size_t bytes_of(int of) const { return of == rank ? out : in; }
  std::size_t offset_of(int) const { return place; }
};

/// The same of blocks in pieces.
struct PieceBlocksOfTwo {
  int rank;
  std::size_t out, in;
  PieceBlock place;
  std::size_t bytes_of(int of) const { return of == rank ? out : in; }
};
using collective::block_of;
inline PieceBlock block_of(void*, const PieceBlocksOfTwo& blocks, int) { return blocks.place; }

template <class B>
BlocksOfTwo blocks_of_two(int rank, const B& out, const B& in) {
  const int other = 1 - rank;
  return {rank, out.bytes_of(other), in.bytes_of(other), in.offset_of(other)};
}
inline PieceBlocksOfTwo blocks_of_two(int rank, const PieceBlocks& out, const PieceBlocks& in) {
  const int other = 1 - rank;
  return {rank, out.bytes_of(other), in.bytes_of(other), in.block(other)};
}

/// Both blocks ride in the flag lines.
template <Machine M, class Out, class B>
[[gnu::flatten]] void swap_inline(M& m, const Out& out, void* receive, const B& blocks, const Plan& plan,
                                  const auto& keep_own) {
  InlineExchange<M> exchange(m, plan);
  copy_part(m, exchange.own_line(), out, Part{0, blocks.out});
  exchange.announce(m.other_ranks());
  keep_own(0, {});
  const int other = 1 - blocks.rank;
  if (blocks.in > 0)
    take_part(m, block_of(receive, blocks, other), Part{0, blocks.in}, exchange.line_of(other));
  exchange.finish(blocks.in > 0);
}

/// The same where the lines say how long the blocks are. Not by CountedMeeting, whose state would go through memory.
template <Machine M, class Out, class B>
[[gnu::flatten]] void swap_counted_inline(M& m, const Out& out, void* receive, const B& blocks,
                                          const Plan& plan, const auto& keep_own) {
  const int other = 1 - blocks.rank;
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  m.reserve(steps);
  copy_part(m, m.inline_buffer(Channel::gather, step), out, Part{0, blocks.out});
  m.publish_pair(Channel::gather, step, blocks.out, blocks.in);
  m.set_readers(steps, m.other_ranks());
  keep_own(0, {});
  if (blocks.in > 0) {
    const std::size_t in = await_lengths(m, plan, other, step, blocks.out, blocks.in);
    take_part(m, block_of(receive, blocks, other), Part{0, in}, m.inline_data(Channel::gather, other, step));
    m.all_finished(steps.first - 1);
  }
  m.finish(step);
  m.prefetch_own_line(Channel::gather);
}

}  // namespace detail

/// Whether the plan is for two ranks that need not meet by counter.
template <Machine M>
bool are_two(const M& m, const Plan& plan) {
  return m.size() == 2 && plan.algorithm == plan::Algorithm::exchange;
}

namespace detail {

/// How a rank of two keeps its own block, which is as long as both of its counts say; once.
template <Machine M, class B>
auto keeping_own(M& m, const void* send, const B& out, void* receive, const B& in, std::size_t bytes) {
  return [&m, send, &out, receive, &in, bytes](std::size_t round, const Part&) {
    if (round == 0)
      copy_own(m, block_of(receive, in, m.rank()), block_of(send, out, m.rank()), Part{0, bytes});
  };
}

/// `blocks` may become shorter, as the other rank says.
template <Machine M, class Out, class Sizes, class Keep>
[[gnu::noinline]] void swap_counted_in_slots(M& m, const Out& block, void* receive, Sizes blocks,
                                             const Plan& plan, const Keep& keep_own) {
  exchange_blocks_in_slots(m, block, receive, blocks, plan, keep_own,
                           CountedMeeting<M>(m, plan, blocks.out, blocks.in));
}

}  // namespace detail

/// As alltoall(), of which it is a part. `send` may be `receive` if both have the same blocks.
template <Machine M, class B>
[[gnu::flatten]] void alltoall_of_two(M& m, const void* send, const B& out, void* receive, const B& in,
                                      const Plan& plan) {
  const auto blocks = detail::blocks_of_two(m.rank(), out, in);
  const auto keep_own = detail::keeping_own(m, send, out, receive, in, in.bytes_of(m.rank()));
  const auto block = block_of(send, out, 1 - m.rank());
  const std::size_t longest = std::max(blocks.out, blocks.in);
  if (longest == 0) return keep_own(0, {});
  if (rides_inline(longest, plan)) return detail::swap_inline(m, block, receive, blocks, plan, keep_own);
  exchange_blocks(m, block, receive, blocks, plan, keep_own);
}

/// As alltoallv(), of which it is a part: each compares what the other sends with what it expects.
template <Machine M, class B>
[[gnu::flatten]] void alltoallv_of_two(M& m, const void* send, const B& out, void* receive, const B& in,
                                       const Plan& plan) {
  const auto blocks = detail::blocks_of_two(m.rank(), out, in);
  const std::size_t own = std::min(out.bytes_of(m.rank()), in.bytes_of(m.rank()));
  const auto keep_own = detail::keeping_own(m, send, out, receive, in, own);
  const auto block = block_of(send, out, 1 - m.rank());
  const std::size_t longest = std::max(blocks.out, blocks.in);
  if (longest == 0) return keep_own(0, {});
  if (rides_inline(longest, plan))
    return detail::swap_counted_inline(m, block, receive, blocks, plan, keep_own);
  detail::swap_counted_in_slots(m, block, receive, blocks, plan, keep_own);
}

}  // namespace espalier::collective
