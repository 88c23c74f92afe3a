// Who of a node talks to a rank of another (NOTIFY V: every rank talks to one rank of each node). Its
// counterpart there, the rank with its own local number; where a node has fewer ranks they go round.
#pragma once

#include <vector>

#include "collective/multinode/stage/placement.hpp"

namespace espalier::collective::multinode {

/// Seen from one rank.
class Counterparts {
 public:
  Counterparts(const Placement& placement, int rank) : placement_(placement), rank_(rank) {}

  int nodes() const { return placement_.nodes(); }
  int node() const { return node_of(rank_); }
  int node_of(int rank) const { return placement_.node_of[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& ranks_of(int node) const {
    return placement_.ranks_of[static_cast<std::size_t>(node)];
  }
  const std::vector<int>& neighbours() const { return ranks_of(node()); }

  /// Who of `of_node` speaks to the rank `to` of another node for all of its node.
  int speaker(int of_node, int to) const {
    const std::vector<int>& its = ranks_of(of_node);
    return its[static_cast<std::size_t>(placement_.local_rank_of[static_cast<std::size_t>(to)]) % its.size()];
  }
  /// To whom a rank of this node speaks for all of it.
  std::vector<int> audience(int of) const {
    std::vector<int> result;
    for (int to = 0; to < placement_.ranks(); ++to)
      if (node_of(to) != node() && speaker(node(), to) == of) result.push_back(to);
    return result;
  }

 private:
  const Placement& placement_;
  int rank_;
};

}  // namespace espalier::collective::multinode
