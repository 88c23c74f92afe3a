// Barrier over nodes (HIER 3.4, without its full barriers within the nodes): gather up, the leaders meet,
// release down.
#pragma once

#include <vector>

#include "collective/core/tree_position.hpp"
#include "collective/multinode/network/dissemination.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "plan/plan.hpp"

namespace espalier::collective::multinode {

/// Up and down the tree: more rounds than dissemination, and far fewer messages.
template <Network N>
Task meet_along_tree(N peers, const TreePosition& position) {
  std::vector<decltype(peers.receive(0, nullptr, 0))> from_children, to_children;
  for (const int child : position.children) from_children.push_back(peers.receive(child, nullptr, 0));
  for (auto& message : from_children) co_await message;
  if (!position.is_root()) {
    auto to_parent = peers.send(position.parent, nullptr, 0);
    co_await to_parent;
    auto from_parent = peers.receive(position.parent, nullptr, 0);
    co_await from_parent;
  }
  for (const int child : position.children) to_children.push_back(peers.send(child, nullptr, 0));
  for (auto& message : to_children) co_await message;
}

/// `leaders`: the node's rank 0 among those of all nodes; means something there only, as does `place`, the
/// node's in the tree of nodes.
template <NodeStage S, Network N>
void barrier(S& node, N leaders, const TreePosition& position, plan::Algorithm algorithm) {
  constexpr int leader = 0;
  node.meet(leader, [&] {
    const Task task =
        algorithm == plan::Algorithm::tree ? meet_along_tree(leaders, position) : disseminate(leaders);
    leaders.drive_until([&] { return task.done(); });
  });
}

}  // namespace espalier::collective::multinode
