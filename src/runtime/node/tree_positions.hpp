// This rank's places in the trees of a communicator, built when first needed and kept.
#pragma once

#include <memory>
#include <vector>

#include "collective/core/tree_position.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "plan/plan.hpp"
#include "topology/group.hpp"

namespace espalier::runtime {

/// Pure functions of (plan, root, communicator), so all ranks build trees that fit together without a word.
/// Used by one thread at a time; what is handed out stays valid as long as this lives.
class TreePositions {
 public:
  /// `plans`: how many the communicator's selector has.
  TreePositions(int rank, int size, topology::Group groups, int plans);

  collective::TreePositionPair operator()(const plan::Plan& plan, int root) {
    auto& known = pairs_[static_cast<std::size_t>(plan.index) * static_cast<std::size_t>(size_) +
                         static_cast<std::size_t>(root)];
    if (!known) known = build(plan, root);
    return {known->gather, known->release};
  }
  const collective::ContiguousPosition& contiguous(int root);

 private:
  struct Pair {
    collective::TreePosition gather, release;
  };
  std::unique_ptr<Pair> build(const plan::Plan& plan, int root) const;
  int rank_, size_;
  topology::Group groups_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::vector<std::unique_ptr<collective::ContiguousPosition>> contiguous_;
};

}  // namespace espalier::runtime
