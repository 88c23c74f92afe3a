// Blocks of which only the rank that sends and the one that receives know the length, each for itself: the first flag
// line of a block says the sender's, and the receiver compares.
#pragma once

#include <utility>
#include <vector>

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// How long the blocks are that this rank receives: as long as it expects, but for a few shorter ones.
class ReceivedLengths {
 public:
  void note(int peer, std::size_t bytes) { shorter_.emplace_back(peer, bytes); }
  std::size_t of(int peer, std::size_t expected) const {
    if (shorter_.empty()) [[likely]]
      return expected;
    return find(peer, expected);
  }

 private:
  [[gnu::cold, gnu::noinline]] std::size_t find(int peer, std::size_t expected) const {
    for (const auto& [rank, bytes] : shorter_)
      if (rank == peer) return bytes;
    return expected;
  }

  std::vector<std::pair<int, std::size_t>> shorter_;
};

/// Of two ranks: whether a block of that length comes in a line.
inline bool is_in_line(std::size_t bytes, const Plan& plan) {
  return bytes > 0 && rides_inline(bytes, plan) && bytes < plan.zero_copy;
}
/// Of two ranks: the slots of a chunk of a block that both of them cut by its length.
template <Machine M>
int span_of_block(const M& m, std::size_t bytes, const Plan& plan) {
  return rides_inline(bytes, plan) ? 1 : Chunks(m, bytes, plan).span();
}

/// Of two ranks, before any step is taken: waits for the first line of the peer's block, whose steps take so many
/// slots, and returns how long the block is. So this rank goes the way that the peer has taken by its length.
template <Machine M>
std::size_t await_first_line(M& m, int peer, std::size_t expected, int span) {
  return m.await_block(Channel::gather, peer, m.next_step(span), expected);
}

}  // namespace espalier::collective
