// Bcast over nodes (HIER 3.1): segments travel down a tree of leaders and are released on each node as they
// arrive.
#pragma once

#include "collective/multinode/network/scatter_allgather.hpp"
#include "collective/multinode/network/tree.hpp"
#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/stage.hpp"

namespace espalier::collective::multinode {

/// How a rooted collective sees the nodes. The root leads its node.
template <Network N>
struct Rooted {
  int leader;                    ///< of this node, among its ranks
  N leaders;                     ///< one a node, in the order of the nodes; means something at leaders only
  N leaders_from_root;           ///< the same, going round from the root's node
  const TreePosition& position;  ///< of this node in the tree of nodes
};

template <NodeStage S, Network N>
void bcast(S& node, const Rooted<N>& nodes, void* buffer, std::size_t bytes, const plan::NetworkPlan& plan) {
  const Segments segments(bytes, plan.segment);
  const bool leads = node.rank() == nodes.leader;
  const auto start = [&](std::size_t i, int lane, bool& arrived) -> Task {
    if (!leads) return {};
    std::byte* data = at(buffer, segments.offset(i));
    if (plan.algorithm == plan::Algorithm::scatter_allgather)
      return bcast_scatter_allgather(nodes.leaders_from_root.on(lane), data, segments.bytes(i), arrived);
    return bcast_down(nodes.leaders.on(lane), nodes.position, data, segments.bytes(i), arrived);
  };
  join(
      nodes.leaders, segments.count(), [](std::size_t) {}, start,
      [&](std::size_t i) { node.bcast(nodes.leader, at(buffer, segments.offset(i)), segments.bytes(i)); });
}

}  // namespace espalier::collective::multinode
