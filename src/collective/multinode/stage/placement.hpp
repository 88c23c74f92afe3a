// Which ranks are on which node.
#pragma once

#include <cstddef>
#include <vector>

namespace espalier::collective::multinode {

/// Nodes are numbered by their lowest rank; a node's ranks rise.
struct Placement {
  std::vector<std::vector<int>> ranks_of;  ///< by node
  std::vector<int> node_of;                ///< by rank
  std::vector<int> local_rank_of;          ///< by rank: its number on its node

  int ranks() const { return static_cast<int>(node_of.size()); }
  int nodes() const { return static_cast<int>(ranks_of.size()); }
  std::size_t size_of(int node) const { return ranks_of[static_cast<std::size_t>(node)].size(); }
  std::size_t largest() const;
  std::size_t smallest() const;
  /// Each node's ranks follow on each other: then all ranks of a node are below all of the next.
  bool is_consecutive() const;
};

/// Ranks with equal keys are on one node.
template <class Key>
Placement place_by(const std::vector<Key>& keys) {
  Placement placement;
  std::vector<Key> nodes;
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    std::size_t node = 0;
    while (node < nodes.size() && nodes[node] != keys[rank]) ++node;
    if (node == nodes.size()) {
      nodes.push_back(keys[rank]);
      placement.ranks_of.emplace_back();
    }
    placement.node_of.push_back(static_cast<int>(node));
    placement.local_rank_of.push_back(static_cast<int>(placement.ranks_of[node].size()));
    placement.ranks_of[node].push_back(static_cast<int>(rank));
  }
  return placement;
}

inline std::size_t Placement::largest() const {
  std::size_t result = 0;
  for (const auto& ranks : ranks_of) result = ranks.size() > result ? ranks.size() : result;
  return result;
}

inline std::size_t Placement::smallest() const {
  std::size_t result = ranks_of.front().size();
  for (const auto& ranks : ranks_of) result = ranks.size() < result ? ranks.size() : result;
  return result;
}

inline bool Placement::is_consecutive() const {
  for (std::size_t rank = 1; rank < node_of.size(); ++rank)
    if (node_of[rank] < node_of[rank - 1]) return false;
  return true;
}

}  // namespace espalier::collective::multinode
