// A rank's places in the trees of a group of ranks, built when first needed and kept.
#pragma once

#include <atomic>
#include <vector>

#include "collective/core/tree_position.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "plan/plan.hpp"
#include "topology/group.hpp"

namespace espalier::runtime {

/// Pure functions of (plan, root, group), so all ranks build trees that fit together without a word.
/// Thread-safe: communicators of one group share them. What is handed out stays valid as long as this lives.
class TreePositions {
 public:
  /// `plans`: how many the selector of these ranks has.
  TreePositions(int rank, int size, topology::Group groups, int plans);
  ~TreePositions();
  TreePositions(const TreePositions&) = delete;
  TreePositions& operator=(const TreePositions&) = delete;

  [[gnu::always_inline]] collective::TreePositionPair operator()(const plan::Plan& plan, int root) const {
    const auto& known = pairs_[static_cast<std::size_t>(plan.index) * static_cast<std::size_t>(size_) +
                               static_cast<std::size_t>(root)];
    // acquire: pairs with the release in build(), so that what another thread has built is seen whole.
    const Pair* pair = known.load(std::memory_order_acquire);
    if (!pair) pair = &build(plan, root);
    return {pair->gather, pair->release};
  }
  const collective::ContiguousPosition& contiguous(int root) const;

 private:
  struct Pair {
    collective::TreePosition gather, release;
  };
  [[gnu::cold, gnu::noinline]] const Pair& build(const plan::Plan& plan, int root) const;

  int rank_, size_;
  topology::Group groups_;
  mutable std::vector<std::atomic<const Pair*>> pairs_;
  mutable std::vector<std::atomic<const collective::ContiguousPosition*>> contiguous_;
};

}  // namespace espalier::runtime
