// Alltoall and alltoallv of two ranks with a core each: both know what goes either way, so each shows the
// other its block as it is.
#pragma once

#include <algorithm>

#include "collective/core/exchange_blocks.hpp"

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

/// Both blocks ride in the flag lines.
template <Machine M>
[[gnu::flatten]] void swap_inline(M& m, const void* out, void* receive, const BlocksOfTwo& blocks,
                                  const Plan& plan, const auto& keep_own) {
  InlineExchange<M> exchange(m, plan);
  m.copy(exchange.own_line(), out, blocks.out);
  exchange.announce(m.other_ranks());
  keep_own(0, {});
  if (blocks.in > 0) m.copy(at(receive, blocks.place), exchange.line_of(1 - blocks.rank), blocks.in);
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
  const detail::BlocksOfTwo blocks{m.rank(), out.bytes_of(other), in.bytes_of(other), in.offset_of(other)};
  const auto keep_own = [&](std::size_t round, const Part&) {
    if (round > 0) return;
    copy_own(m, at(receive, in.offset_of(m.rank())), at(send, out.offset_of(m.rank())),
             Part{0, in.bytes_of(m.rank())});
  };
  const void* block = at(send, out.offset_of(other));
  const std::size_t longest = std::max(blocks.out, blocks.in);
  if (longest == 0) return keep_own(0, {});
  if (rides_inline(longest, plan)) return detail::swap_inline(m, block, receive, blocks, plan, keep_own);
  exchange_blocks(m, block, receive, blocks, plan, keep_own);
}

}  // namespace espalier::collective
