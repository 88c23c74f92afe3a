// What the ranks of a communicator that share memory have: a share of the arena, plans, the machine. Seen by
// the files that implement communicators alone.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "machine/host_machine.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/failure/mismatch_detection.hpp"
#include "runtime/flight/recorder.hpp"
#include "runtime/node/adaptive_choice.hpp"
#include "runtime/node/group/group_plans.hpp"
#include "runtime/node/group/slot_pages.hpp"
#include "runtime/node/node_area.hpp"
#include "runtime/node/zero_copy_backoff.hpp"
#include "runtime/process/node.hpp"
#include "runtime/progress/missed_tests.hpp"
#include "runtime/setup/agreement.hpp"
#include "runtime/statistics/recorder.hpp"

namespace espalier::runtime {

/// Everything that exists only where memory is shared.
struct SharedState {
  /// `rank`: among those that share memory; `names`: as in MismatchDetection. `hook` drives the
  /// host, and what else must go on while they wait. `plans`: of these ranks; null: they are made.
  SharedState(const NodeState& node, const NodeShare& agreement, int rank, std::vector<int> names,
              machine::ProgressHook hook, std::shared_ptr<const GroupPlans> plans = nullptr);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  /// Runs body(plan) and counts the call; false, with nothing done, when the plan leaves it to the host.
  template <class Body>
  bool serve(const machine::CallFacts& call, Body body) {
    const plan::Plan& plan = selector(call.collective, call.bytes);
    return serve_as(counters.row({call.collective, call.bytes, plan.algorithm}), plan, call,
                    needs_slots_from(call.collective), body);
  }
  template <class Body>
  bool serve(Collective collective, std::size_t bytes, Body body) {
    return serve({collective, 0, bytes}, body);
  }
  template <class Body>
  bool serve_rooted(Collective collective, std::size_t bytes, int root, Body body) {
    return serve({collective, root, bytes}, body);
  }
  /// Of a call in which ranks count each for itself: `counted` is for those that compare (MismatchDetection::note_block()).
  template <class Body>
  bool serve_counted(Collective collective, int root, std::uint64_t counted, Body body) {
    const machine::CallFacts call{collective, root, 0};
    const plan::Plan& plan = selector(collective, 0);
    return serve_begun(counters.row({collective, 0, plan.algorithm}), plan, call,
                       needs_slots_from(collective), body, true,
                       [&] { return mismatch_detection.begin_counted(call, counted); });
  }
  /// For operators that take whole vectors: the statistics say `tree`, whatever the plan.
  template <class Body>
  bool serve_whole(Collective collective, std::size_t bytes, int root, Body body) {
    const std::size_t from = slots_from == &GroupPlans::never ? slots_from->front() : 0;
    return serve_as(counters.row({collective, bytes, plan::Algorithm::tree}), selector(collective, bytes),
                    {collective, root, bytes, reduce::user_operation}, from, body);
  }

  /// For what Espalier itself exchanges: no statistics count it.
  template <class Body>
  bool serve_uncounted(Collective collective, std::size_t bytes, Body body) {
    return serve_as(nullptr, selector(collective, bytes), {collective, 0, bytes},
                    needs_slots_from(collective), body, false);
  }

  /// Between calls: this rank's waits are those of ESPALIER_WAIT, or they do not yield.
  void sleep_in_waits(bool on);

  /// Has way() done it, reading long buffers where they lie? It says whether all ranks could; called on all
  /// or none.
  template <class Way>
  bool by_zero_copy(Collective collective, std::size_t bytes, const plan::Plan& plan, Way way) {
    if (bytes < plan.zero_copy) return false;
    ZeroCopyBackoff& habit = zero_copy_backoff[static_cast<std::size_t>(collective)];
    return habit.asks() && habit.learn(way());
  }

  /// This rank makes no more calls here, of which the others hear. True: the share may be the next
  /// communicator's of the same ranks, and all that is here goes on with it; begun by rejoin().
  bool leave(bool may_go_on);
  void rejoin() { has_left_ = false; }
  /// Registered, and had no memory for slots: calls that need some are the host's.
  bool lacks_slots() const { return lacks_slots_; }
  const std::optional<Registered>& registered() const { return registered_; }

  memory::Arena& arena;
  memory::Share share;
  machine::Layout layout;
  std::shared_ptr<const GroupPlans> plans;
  const plan::Selector& selector;
  const TreePositions& positions;
  machine::ProgressHook drive;  ///< the host, and what else must go on
  MismatchDetection mismatch_detection;
  const double ranks_per_core;
  machine::HostMachine machine;
  /// Calls of which size may need slots that this rank has not got or not mapped yet.
  const SlotLimits* slots_from;
  std::array<ZeroCopyBackoff, all_collectives.size()> zero_copy_backoff;
  AdaptiveChoices<> scatter_ways;  ///< of exposed blocks and slots; this rank's, as a root
  NodeArea area;                   ///< where an allgather is put together
  bool is_exposed = false;         ///< what lies there, to the ranks of a communicator on one node
  std::size_t no_area_of = std::numeric_limits<std::size_t>::max();  ///< so much the arena did not have then
  NodeArea ring;  ///< the same through a window (ring_window.cpp)
  statistics::Counters counters{layout.ranks};
  statistics::Arrivals arrivals;

 private:
  /// A constant for barriers, which then need no look.
  [[gnu::always_inline]] std::size_t needs_slots_from(Collective collective) const {
    if (collective == Collective::barrier) return std::numeric_limits<std::size_t>::max();
    return (*slots_from)[static_cast<std::size_t>(collective)];
  }

  /// False: there is no memory for slots, on all ranks alike.
  [[gnu::cold, gnu::noinline]] bool take_slots();
  bool add_registered_slots();
  bool back_slots(memory::Share fresh) const;
  void free_areas(const std::array<NodeArea, 2>& areas) const;
  void clear_departures();
  /// What this rank does in its waits, besides looking where the others are.
  machine::ProgressHook work_in_waits();

  template <class Body>
  bool serve_as(statistics::Row* row, const plan::Plan& plan, const machine::CallFacts& call,
                std::size_t limit, Body& body, bool of_program = true) {
    return serve_begun(row, plan, call, limit, body, of_program,
                       [&] { return mismatch_detection.begin(call); });
  }
  /// `begin` begins the call, and returns its fingerprint.
  template <class Body, class Begin>
  bool serve_begun(statistics::Row* row, const plan::Plan& plan, const machine::CallFacts& call,
                   std::size_t limit, Body& body, bool of_program, const Begin& begin) {
    if (plan.algorithm == plan::Algorithm::host) return false;
    if (call.bytes >= limit && !take_slots()) [[unlikely]]
      return false;
    const statistics::Recorder recorder(row, machine.waiter(), row ? arrivals_of(call) : nullptr);
    machine.begin_call(begin());
    if (of_program) flight::note_call(mismatch_detection.calls(), call.bytes);
    try {
      body(plan);
    } catch (...) {
      abandon_call();
      throw;
    }
    asking::note_collective();
    return true;
  }
  [[gnu::cold, gnu::noinline]] statistics::Arrivals* arrivals_of(const machine::CallFacts& call) {
    if (!arrivals.is_on() || !statistics::Arrivals::can_count(call.collective, call.bytes)) return nullptr;
    arrivals.expect(call.collective, call.bytes, call.root);
    return &arrivals;
  }
  // Out of line: what leads here must cost a call that succeeds nothing.
  [[gnu::cold, gnu::noinline]] void abandon_call() { mismatch_detection.abandon(); }

  std::optional<Registered> registered_;
  memory::ShareDirectory* directory_;
  bool has_left_ = false;
  bool lacks_slots_ = false;
};

}  // namespace espalier::runtime
