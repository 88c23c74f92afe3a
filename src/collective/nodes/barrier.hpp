// Barrier over nodes (HIER 3.4, without its full barriers within the nodes): gather up, dissemination between
// the leaders, release down.
#pragma once

#include "collective/nodes/dissemination.hpp"
#include "collective/nodes/stage.hpp"

namespace espalier::collective::nodes {

/// `leaders`: the node's rank 0 among those of all nodes; means something there only.
template <NodeStage S, Network N>
void barrier(S& node, N leaders) {
  constexpr int leader = 0;
  node.meet(leader, [&] {
    const Task task = disseminate(leaders);
    leaders.drive_until([&] { return task.done(); });
  });
}

}  // namespace espalier::collective::nodes
