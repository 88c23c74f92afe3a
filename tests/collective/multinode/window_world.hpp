// The ranks of pretended nodes with a window for their notified rings.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "collective/multinode/network/window_half.hpp"
#include "collective/multinode/stage/node_ranks.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "collective/node/reductions/reduce.hpp"
#include "tests/collective/multinode/same_bits.hpp"
#include "tests/collective/multinode/world.hpp"
#include "tests/network/pretended_window.hpp"

namespace espalier::testing {

/// run(node) with the ranks of this rank's node.
template <class Run>
void with_node(Member& me, Run run) {
  if (!me.machine()) return run(collective::multinode::NodeOfOne());
  run(collective::multinode::NodeRanks(*me.machine(), me.node_plan(Collective::allgatherv, 1000)));
}

/// The fold of a node's vectors as calls through a window take it: fold_node(offset, bytes, target).
template <class T, class Stage>
auto fold_of_node(Stage& stage, const collective::Reduction& reduction) {
  return [&](std::size_t offset, std::size_t bytes, std::byte* target) {
    const std::byte* source = collective::at(reduction.send, offset);
    if constexpr (collective::multinode::SplittingStage<Stage>)
      stage.reduce_scatter(source, target, collective::multinode::Slices(bytes, sizeof(T), stage.size()),
                           reduction.operation);
    else
      std::memcpy(target, source, bytes);
  };
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

/// That floats have the same bits on all ranks and each time, in each placement.
/// `reduce(member, window, use, floats, round)`: their sum over all ranks.
template <class Counts, class Reduce>
void expect_same_bits_everywhere(const Counts& counts, Reduce reduce) {
  std::mutex mutex;
  std::map<std::vector<int>, SameBits> by_placement;
  in_every_setting(2, 4096, [&](Member& me, auto& window, collective::multinode::WindowUse& use) {
    SameBits* bits;
    {
      const std::lock_guard lock(mutex);
      bits = &by_placement[me.placement().node_of];
    }
    for (int round = 0; round < 10; ++round)
      for (const std::size_t count : counts)
        bits->expect(std::to_string(count), reduce(me, window, use, floats_of(me.rank(), count), round));
  });
}

}  // namespace espalier::testing
