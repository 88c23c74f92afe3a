// Reduce over nodes (HIER 3.2): each segment is gathered on the nodes, then folded up a tree of leaders while
// the next is gathered.
#pragma once

#include "collective/multinode/bcast.hpp"
#include "collective/multinode/network/rabenseifner.hpp"

namespace espalier::collective::multinode {

/// What the leader of a node needs to reduce: for each lane a segment, and scratch for what arrives.
struct ReduceRoom {
  std::byte *partial,
      *scratch;  ///< segments_under_way * longest segment; the same * max(1, children of the place)
};

template <NodeStage S, Network N>
void reduce(S& node, const Rooted<N>& nodes, const Reduction& r, const ReduceRoom& room,
            const plan::NetworkPlan& plan) {
  const Segments segments(r.bytes, plan.segment, r.operation.extent);
  const bool leads = node.rank() == nodes.leader;
  const bool is_root = leads && nodes.position.is_root();
  const std::size_t scratch = segments.longest() * std::max<std::size_t>(1, nodes.position.children.size());
  const auto result = [&](std::size_t i) -> std::byte* {
    if (is_root) return at(r.receive, segments.offset(i));
    return leads ? room.partial + i % segments_under_way * segments.longest() : nullptr;
  };
  const auto gather = [&](std::size_t i) {
    node.reduce(nodes.leader, at(r.send, segments.offset(i)), result(i), segments.bytes(i), r.operation);
  };
  const auto start = [&](std::size_t i, int lane, bool&) -> Task {
    if (!leads) return {};
    const Vector v = {result(i), segments.bytes(i), room.scratch + static_cast<std::size_t>(lane) * scratch,
                      r.operation};
    if (plan.algorithm == plan::Algorithm::rabenseifner)
      return reduce_rabenseifner(nodes.leaders_from_root.on(lane), v);
    return reduce_up(nodes.leaders.on(lane), nodes.position, v);
  };
  join(nodes.leaders, segments.count(), gather, start, [](std::size_t) {});
}

}  // namespace espalier::collective::multinode
