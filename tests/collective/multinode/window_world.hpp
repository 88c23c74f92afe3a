// The ranks of pretended nodes with a window for their notified rings.
#pragma once

#include <functional>
#include <vector>

#include "collective/multinode/network/window_half.hpp"
#include "collective/multinode/stage/node_ranks.hpp"
#include "tests/collective/multinode/world.hpp"
#include "tests/network/pretended_window.hpp"

namespace espalier::testing {

/// run(node) with the ranks of this rank's node.
template <class Run>
void with_node(Member& me, Run run) {
  if (!me.machine()) return run(collective::multinode::NodeOfOne());
  run(collective::multinode::NodeRanks(*me.machine(), me.node_plan(Collective::allgatherv, 1000)));
}

/// Placements whose nodes all have memory in common.
inline std::vector<Setting> together() {
  return {{"block", {0, 0, 0, 1, 1, 1}, Within::shared_memory, 21},
          {"cyclic", {0, 1, 2, 0, 1, 2, 0, 1, 2}, Within::shared_memory, 22, 4},
          {"unequal", {0, 0, 0, 1, 1, 2, 2, 2, 2}, Within::shared_memory, 23},
          {"3+1+3", {0, 0, 0, 1, 2, 2, 2}, Within::shared_memory, 25},
          {"one rank a node", {0, 1, 2, 3, 4}, Within::shared_memory, 26},
          {"all on one node", {0, 0, 0, 0}, Within::shared_memory, 24}};
}

/// Runs body(member, window, use) on every rank, in each of the settings whose number of nodes is `least` or
/// more; the window has `ids` notifications.
inline void in_every_setting(
    int least, int ids,
    const std::function<void(Member&, PretendedWindows::Window&, collective::multinode::WindowUse&)>& body) {
  for (const Setting& setting : together()) {
    World world(setting);
    if (world.placement().nodes() < least) continue;
    PretendedWindows windows(world.placement().nodes(), std::size_t{1} << 20, ids, setting.seed);
    world.run([&](Member& me) {
      PretendedWindows::Window window(windows, me.node());
      if (me.local_rank() == 0)
        collective::multinode::WindowHalf::prepare(window.local(), window.bytes(), ids);
      if (me.machine()) with_node(me, [](auto node) { node.meet(); });
      collective::multinode::WindowUse use;
      body(me, window, use);
    });
    EXPECT_TRUE(windows.is_quiet());
  }
}

}  // namespace espalier::testing
