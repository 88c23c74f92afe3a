// A rank's place in a tree: all that an algorithm sees of it.
#pragma once

#include <vector>

#include "tree/tree.hpp"

namespace espalier::collective {

struct TreePosition {
  int root = 0;
  int parent = -1;            ///< -1 at the root
  std::vector<int> children;  ///< in the order in which they are served

  bool is_root() const { return parent < 0; }
  bool is_leaf() const { return children.empty(); }
};

/// A rank's positions in the two trees of a plan.
struct TreePositionPair {
  const TreePosition &gather, &release;
};

inline TreePosition position_of(const tree::Tree& tree, int rank) {
  return {tree.root, tree.parent[static_cast<std::size_t>(rank)],
          tree.children[static_cast<std::size_t>(rank)]};
}

}  // namespace espalier::collective
