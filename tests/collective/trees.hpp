// Places of all ranks in trees with root 0, as algorithms that gather whole subtrees ask for them.
#pragma once

#include <vector>

#include "collective/core/tree_position.hpp"
#include "tree/compose.hpp"

namespace espalier::testing {

/// Kept as long as the ranks' machines: slots refer to children and parents as lists of readers.
class GatheringTrees {
 public:
  GatheringTrees(int ranks, const char* up, const char* down)
      : up_(places(ranks, up)), down_(places(ranks, down)) {}
  collective::TreePositionPair of(int rank) const {
    return {up_[static_cast<std::size_t>(rank)], down_[static_cast<std::size_t>(rank)]};
  }

 private:
  static std::vector<collective::TreePosition> places(int ranks, const char* text) {
    const tree::Tree tree = tree::compose(topology::flat_group(ranks), tree::parse_spec(text), 0);
    std::vector<collective::TreePosition> places;
    for (int rank = 0; rank < ranks; ++rank) places.push_back(collective::gathering_position_of(tree, rank));
    return places;
  }

  std::vector<collective::TreePosition> up_, down_;
};

}  // namespace espalier::testing
