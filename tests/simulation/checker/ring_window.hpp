// The window of notified rings on the checking machine.
#pragma once

#include "collective/multinode/network/window_half.hpp"
#include "collective/multinode/stage/node_ranks.hpp"
#include "simulation/checker/machine.hpp"
#include "simulation/checker/window.hpp"
#include "tests/simulation/checker/member.hpp"

namespace espalier::testing {

/// It goes as in runtime/: no rank says goodbye, and its memory is used for something else as soon as all
/// ranks of the node are out of their last call.
struct RingWindow {
  static constexpr int ids = 32;
  static constexpr std::size_t room = 384;
  static std::size_t segment() { return collective::multinode::WindowHalf::segment_bytes(room, ids); }
  /// So long an area its scenarios need.
  static std::size_t area() { return simulation::checker::Window::area_bytes(segment(), ids, false); }

  CheckingMachine& m;
  simulation::checker::Window window;
  collective::multinode::NodeRanks<CheckingMachine> node;
  collective::multinode::WindowUse use{0xfffffffe};  ///< the value wraps around in the second call
  collective::Step last = 0;                         ///< as the last call has returned it

  RingWindow(CheckingMachine& machine, const Nodes& nodes)
      : m(machine), window(team_of(nodes), segment(), ids), node(m, nodes.plan(Collective::allgatherv)) {
    if (m.rank() == 0)
      collective::multinode::WindowHalf::prepare(window.local(), window.bytes(), window.ids());
    collective::multinode::NodeRanks(node).meet();
  }

  void give_back() {
    window.drain();
    for (const int peer : m.other_ranks()) m.await_finish(peer, last);
    if (m.rank() == 0) simulation::checker::Execution::current().give_back(window.local(), window.bytes());
  }
};

}  // namespace espalier::testing
