// Allgather and allgatherv: every rank copies its block into its slots, and all others read it there. Long
// blocks can also be read where they lie.
#pragma once

#include "collective/core/exchange_blocks.hpp"
#include "collective/node/all_to_all/exchange_single_copy.hpp"

namespace espalier::collective {

/// `own`: this rank's block, which may be in its place in `receive` already.
template <Machine M, class B>
void allgather(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  if (by_kernel(plan) && is_exposed(largest_of(blocks, m.size()), plan) &&
      allgather_single_copy(m, own, receive, blocks, plan))
    return;
  std::byte* place = at(receive, blocks.offset_of(m.rank()));
  exchange_blocks(m, own, receive, blocks, plan,
                  [&](std::size_t, const Part& part) { copy_own(m, place, own, part); });
}

}  // namespace espalier::collective
