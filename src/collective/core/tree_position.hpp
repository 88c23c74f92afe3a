// A rank's place in a tree: all that an algorithm sees of it.
#pragma once

#include <vector>

#include "tree/tree.hpp"

namespace espalier::collective {

/// Ranks first .. end - 1.
struct RankRun {
  int first, end;
  friend bool operator==(const RankRun&, const RankRun&) = default;
};
/// A set of ranks: as few runs as possible, in rank order.
using RankRuns = std::vector<RankRun>;

struct TreePosition {
  int root = 0;
  int parent = -1;            ///< -1 at the root
  std::vector<int> children;  ///< in the order in which they are served
  /// The ranks of this rank's subtree, itself included, and those of each child's. Only gathering_position_of()
  /// gives them: in a chain they take each rank time in the number of ranks.
  RankRuns subtree;
  std::vector<RankRuns> below;

  bool is_root() const { return parent < 0; }
  bool is_leaf() const { return children.empty(); }
};

/// A rank's positions in the two trees of a plan.
struct TreePositionPair {
  const TreePosition &gather, &release;
};

inline TreePosition position_of(const tree::Tree& tree, int rank) {
  return {tree.root,
          tree.parent[static_cast<std::size_t>(rank)],
          tree.children[static_cast<std::size_t>(rank)],
          {},
          {}};
}

/// `ranks`: in ascending order.
inline RankRuns runs_of(const std::vector<int>& ranks) {
  RankRuns runs;
  for (const int rank : ranks)
    if (!runs.empty() && runs.back().end == rank)
      ++runs.back().end;
    else
      runs.push_back({rank, rank + 1});
  return runs;
}

/// The same with what is asked for by algorithms that gather the blocks of whole subtrees.
inline TreePosition gathering_position_of(const tree::Tree& tree, int rank) {
  TreePosition position = position_of(tree, rank);
  position.subtree = runs_of(tree::subtree(tree, rank));
  for (const int child : position.children) position.below.push_back(runs_of(tree::subtree(tree, child)));
  return position;
}

}  // namespace espalier::collective
