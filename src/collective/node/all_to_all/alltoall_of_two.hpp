// Alltoall and alltoallv of two ranks with a core each: both know what goes either way, so each shows the
// other its block as it is.
#pragma once

#include <algorithm>

#include "collective/core/exchange_blocks.hpp"
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

}  // namespace detail

/// Whether the plan is for two ranks that need not meet by counter.
template <Machine M>
bool are_two(const M& m, const Plan& plan) {
  return m.size() == 2 && plan.algorithm == plan::Algorithm::exchange;
}

/// As alltoall() or alltoallv(), of which it is a part. `send` may be `receive` if both have the same blocks.
template <Machine M, class B>
[[gnu::flatten]] void alltoall_of_two(M& m, const void* send, const B& out, void* receive, const B& in,
                                      const Plan& plan) {
  const int other = 1 - m.rank();
  const auto blocks = detail::blocks_of_two(m.rank(), out, in);
  const auto keep_own = [&](std::size_t round, const Part&) {
    if (round > 0) return;
    copy_own(m, block_of(receive, in, m.rank()), block_of(send, out, m.rank()),
             Part{0, in.bytes_of(m.rank())});
  };
  const auto block = block_of(send, out, other);
  const std::size_t longest = std::max(blocks.out, blocks.in);
  if (longest == 0) return keep_own(0, {});
  if (rides_inline(longest, plan)) return detail::swap_inline(m, block, receive, blocks, plan, keep_own);
  exchange_blocks(m, block, receive, blocks, plan, keep_own);
}

}  // namespace espalier::collective
