// Allgather(v) over nodes by leaders: the node's blocks go to its leader, the leaders exchange, and the whole
// goes to all. For nodes without memory in common; allgather_shared.hpp is for the others.
#pragma once

#include <cstring>

#include "collective/multinode/network/allgather_between.hpp"
#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/node_order.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "network/transport.hpp"

namespace espalier::collective::multinode {

/// One rank's side of a call. All ranks know the lengths of all blocks.
template <class B>
struct Allgather {
  int rank;
  const void* own;  ///< may be in its place in `receive`
  void* receive;    ///< null: no rank wants the data but where they have been put together
  const B& blocks;  ///< of all ranks, in `receive`
  const Placement& placement;
  const NodeOrder& order;

  int node() const { return placement.node_of[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& neighbours() const { return placement.ranks_of[static_cast<std::size_t>(node())]; }

  /// From the whole in node order to their places here, but for this rank's own.
  template <class Copy>
  void unpack(const std::byte* whole, int from_node, Copy copy) const {
    if (!receive) return;
    for (const int source : placement.ranks_of[static_cast<std::size_t>(from_node)])
      if (const std::size_t bytes = blocks.bytes_of(source); bytes > 0 && source != rank)
        copy(at(receive, blocks.offset_of(source)), whole + order.begin_of(source), bytes);
  }
  template <class Copy>
  void place_own(Copy copy) const {
    if (!receive) return;
    std::byte* target = at(receive, blocks.offset_of(rank));
    if (const std::size_t bytes = blocks.bytes_of(rank); bytes > 0 && own != target) copy(target, own, bytes);
  }
};

/// So long a block of the ring may be.
inline std::size_t ring_block(const plan::NetworkPlan& plan) {
  return std::min(plan.segment, network::Transport::longest);
}

/// Whether the data go around a ring of messages; what is longer than a message does in any case, and so does
/// what cannot go around one of windows (allgather_window.hpp).
inline bool goes_around(const plan::NetworkPlan& plan, const NodeOrder& order) {
  return plan::by_messages(plan.algorithm) == plan::Algorithm::ring ||
         order.total() > network::Transport::longest;
}

template <Network N, class Arrived>
Task allgather_between(N peers, std::byte* whole, const NodeOrder& order, int carriers, int carrier,
                       const plan::NetworkPlan& plan, Arrived arrived) {
  if (goes_around(plan, order))
    return allgather_around(peers, whole, RingBlocks(order.edges, ring_block(plan), carriers), carrier,
                            arrived);
  return allgather_disseminated(peers, whole, order.edges);
}

/// `leaders`: the node's rank 0 among those of all nodes; means something there only. `whole`: order.total()
/// bytes.
template <NodeStage S, Network N, class B>
void allgather_by_leaders(S& node, N leaders, const Allgather<B>& call, std::byte* whole,
                          const plan::NetworkPlan& plan) {
  constexpr int leader = 0;
  const auto copy = [](void* target, const void* source, std::size_t bytes) {
    std::memcpy(target, source, bytes);
  };
  BlocksOfSome blocks;
  for (const int source : call.neighbours())
    blocks.add(call.blocks.bytes_of(source), call.order.begin_of(source));
  node.gatherv(leader, call.own, call.blocks.bytes_of(call.rank), whole, blocks.view());
  if (node.rank() == leader) {
    const Task task = allgather_between(leaders, whole, call.order, 1, 0, plan, [] {});
    leaders.drive_until([&] { return task.done(); });
  }
  const Segments pieces(call.order.total(), network::Transport::longest);
  for (std::size_t i = 0; i < pieces.count(); ++i)
    node.bcast(leader, whole + pieces.offset(i), pieces.bytes(i));
  call.place_own(copy);
  for (int from = 0; from < call.placement.nodes(); ++from) call.unpack(whole, from, copy);
}

}  // namespace espalier::collective::multinode
