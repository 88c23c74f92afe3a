// Allreduce over nodes (HIER 3.3, joined segment by segment): by one leader a node, or split among several,
// each with its slice of the vector and its counterparts on the other nodes, because one rank cannot fill a
// fast network.
#pragma once

#include "collective/multinode/network/bruck_allgather.hpp"
#include "collective/multinode/network/ordered_parts.hpp"
#include "collective/multinode/network/rabenseifner.hpp"
#include "collective/multinode/network/recursive_doubling.hpp"
#include "collective/multinode/network/ring.hpp"
#include "collective/multinode/network/tree.hpp"
#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/stage.hpp"

namespace espalier::collective::multinode {

/// How many times its bytes a vector needs as scratch at node `me` of `nodes`.
inline std::size_t scratch_vectors(plan::Algorithm algorithm, int me, int nodes, const TreePosition& position,
                                   const reduce::Operation& operation) {
  if (plan::by_messages(algorithm) == plan::Algorithm::dissemination)
    return dissemination_scratch(me, nodes, operation);
  if (algorithm == plan::Algorithm::gather_all) return static_cast<std::size_t>(nodes);
  if (algorithm == plan::Algorithm::tree) return std::max<std::size_t>(1, position.children.size());
  return 1;
}

template <Network N>
Task allreduce_between(N leaders, Vector v, const TreePosition& position, plan::Algorithm algorithm) {
  switch (plan::by_messages(algorithm)) {  // where there is no window, or for reductions that never take one
    case plan::Algorithm::tree:
      return reduce_and_bcast(leaders, position, v);
    case plan::Algorithm::rabenseifner:
      return allreduce_rabenseifner(leaders, v);
    case plan::Algorithm::ring:
      return allreduce_ring(leaders, v);
    case plan::Algorithm::gather_all:
      return allreduce_gather_all(leaders, v);
    case plan::Algorithm::dissemination:
      return allreduce_dissemination(leaders, v);
    default:
      return allreduce_doubling(leaders, v);
  }
}

/// `leaders`: the node's rank 0 among those of all nodes; means something there only. `place`: the node's in
/// the tree of nodes. `scratch`: segments_under_way * the longest segment * scratch_vectors().
template <NodeStage S, Network N>
void allreduce(S& node, N leaders, const TreePosition& position, const Reduction& r, std::byte* scratch,
               const plan::NetworkPlan& plan) {
  constexpr int leader = 0;
  const Segments segments(r.bytes, plan.segment, r.operation.extent);
  const std::size_t room = segments.longest() * scratch_vectors(plan.algorithm, leaders.rank(),
                                                                leaders.size(), position, r.operation);
  const auto result = [&](std::size_t i) { return at(r.receive, segments.offset(i)); };
  const auto gather = [&](std::size_t i) {
    node.reduce(leader, at(r.send, segments.offset(i)), result(i), segments.bytes(i), r.operation);
  };
  const auto start = [&](std::size_t i, int lane, bool&) -> Task {
    if (node.rank() != leader) return {};
    const Vector v = {result(i), segments.bytes(i), scratch + static_cast<std::size_t>(lane) * room,
                      r.operation};
    return allreduce_between(leaders.on(lane), v, position, plan.algorithm);
  };
  join(leaders, segments.count(), gather, start,
       [&](std::size_t i) { node.bcast(leader, result(i), segments.bytes(i)); });
}

/// `counterparts`: the ranks of all nodes with this rank's number; they mean something at the first
/// `leaders` ranks of each node, which every node has. Scratch as above, for a slice of a segment.
template <SplittingStage S, Network N>
void allreduce_split(S& node, N counterparts, int leaders, const TreePosition& position, const Reduction& r,
                     std::byte* scratch, const plan::NetworkPlan& plan) {
  const Segments segments(r.bytes, plan.segment, r.operation.extent);
  const std::size_t extent = r.operation.extent;
  const auto slices = [&](std::size_t i) { return Slices(segments.bytes(i), extent, leaders); };
  const std::size_t longest = segments.longest() / static_cast<std::size_t>(leaders) + extent;
  const std::size_t room = longest * scratch_vectors(plan.algorithm, counterparts.rank(), counterparts.size(),
                                                     position, r.operation);
  const auto gather = [&](std::size_t i) {
    node.reduce_scatter(at(r.send, segments.offset(i)), at(r.receive, segments.offset(i)), slices(i),
                        r.operation);
  };
  const auto start = [&](std::size_t i, int lane, bool&) -> Task {
    if (node.rank() >= leaders) return {};
    const Slices cut = slices(i);
    const Vector v = {at(r.receive, segments.offset(i) + cut.begin(node.rank())), cut.bytes(node.rank()),
                      scratch + static_cast<std::size_t>(lane) * room, r.operation};
    return allreduce_between(counterparts.on(lane), v, position, plan.algorithm);
  };
  join(counterparts, segments.count(), gather, start,
       [&](std::size_t i) { node.allgather(at(r.receive, segments.offset(i)), slices(i)); });
}

}  // namespace espalier::collective::multinode
