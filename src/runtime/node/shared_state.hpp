// What the ranks of a communicator that share memory have: a share of the arena, plans, the machine. Seen by
// the files that implement communicators alone.
#pragma once

#include <array>
#include <limits>

#include "machine/host_machine.hpp"
#include "plan/selector.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/failure/mismatch_detection.hpp"
#include "runtime/node/adaptive_choice.hpp"
#include "runtime/node/node_area.hpp"
#include "runtime/node/slot_pages.hpp"
#include "runtime/node/tree_positions.hpp"
#include "runtime/node/zero_copy_backoff.hpp"
#include "runtime/process/missed_tests.hpp"
#include "runtime/process/node.hpp"
#include "runtime/setup/agreement.hpp"
#include "runtime/statistics/recorder.hpp"

namespace espalier::runtime {

/// Everything that exists only where memory is shared.
struct SharedState {
  /// `rank`: among those that share memory; `names`: as in MismatchDetection. `hook` drives the
  /// host, and what else must go on while they wait.
  SharedState(const NodeState& node, const NodeShare& agreement, int rank, std::vector<int> names,
              machine::ProgressHook hook);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  /// Runs body(plan) and counts the call; false, with nothing done, when the plan leaves it to the host.
  template <class Body>
  bool serve(Collective collective, std::size_t bytes, Body body) {
    return serve_rooted(collective, bytes, 0, body);
  }
  template <class Body>
  bool serve_rooted(Collective collective, std::size_t bytes, int root, Body body) {
    const plan::Plan& plan = selector(collective, bytes);
    return serve_as(plan.algorithm, plan, {collective, root, bytes}, body);
  }
  /// For operators that take whole vectors: the statistics say `tree`, whatever the plan.
  template <class Body>
  bool serve_whole(Collective collective, std::size_t bytes, int root, Body body) {
    return serve_as(plan::Algorithm::tree, selector(collective, bytes), {collective, root, bytes}, body);
  }

  /// Has way() done it, reading long buffers where they lie? It says whether all ranks could; called on all
  /// or none.
  template <class Way>
  bool by_zero_copy(Collective collective, std::size_t bytes, const plan::Plan& plan, Way way) {
    if (bytes < plan.zero_copy) return false;
    ZeroCopyBackoff& habit = zero_copy_backoff[static_cast<std::size_t>(collective)];
    return habit.asks() && habit.learn(way());
  }

  memory::Arena& arena;
  memory::Share share;
  machine::Layout layout;
  plan::Selector selector;
  TreePositions positions;
  machine::ProgressHook drive;  ///< the host, and what else must go on
  MismatchDetection mismatch_detection;
  machine::HostMachine machine;
  bool slots_unmapped = should_map_slots(layout);
  std::array<ZeroCopyBackoff, all_collectives.size()> zero_copy_backoff;
  AdaptiveChoices<> scatter_ways;  ///< of exposed blocks and slots; this rank's, as a root
  NodeArea area;                   ///< where an allgather is put together
  bool is_exposed = false;         ///< what lies there, to the ranks of a communicator on one node
  std::size_t no_area_of = std::numeric_limits<std::size_t>::max();  ///< so much the arena did not have then
  NodeArea ring;  ///< the same through a window (ring_window.cpp)
  statistics::Counters counters{layout.ranks};

 private:
  void map_own_slots();
  /// What this rank does in its waits, besides looking where the others are.
  machine::ProgressHook work_in_waits();

  template <class Body>
  bool serve_as(plan::Algorithm algorithm, const plan::Plan& plan, const machine::CallFacts& call,
                Body& body) {
    if (plan.algorithm == plan::Algorithm::host) return false;
    const statistics::Recorder recorder(counters.row({call.collective, call.bytes, algorithm}),
                                        machine.waiter());
    if (may_need_slots(call.collective, call.bytes) && slots_unmapped) [[unlikely]]
      map_own_slots();
    machine.begin_call(mismatch_detection.begin(call));
    try {
      body(plan);
    } catch (...) {
      abandon_call();
      throw;
    }
    asking::note_collective();
    return true;
  }
  // Out of line: what leads here must cost a call that succeeds nothing.
  [[gnu::cold, gnu::noinline]] void abandon_call() { mismatch_detection.abandon(); }
};

}  // namespace espalier::runtime
