// What serving a call over nodes has in common for all collectives. Seen by the files that implement
// MultiNodeCommunicator alone.
#pragma once

#include "base/format.hpp"
#include "collective/multinode/stage/message_stage.hpp"
#include "collective/multinode/stage/shared_stage.hpp"
#include "runtime/communicator/local_copy.hpp"
#include "runtime/flight/recorder.hpp"
#include "runtime/multinode/multinode_communicator.hpp"
#include "runtime/node/node_plans.hpp"
#include "runtime/node/shared_state.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/missed_tests.hpp"
#include "runtime/window/window_cache.hpp"

namespace espalier::runtime {

/// Runs body(stage) with this node's stage.
template <class Body>
void MultiNodeCommunicator::on_stage(Body body) {
  if (state_) {
    collective::multinode::SharedStage stage(state_->machine, NodePlans{state_.get()});
    body(stage);
  } else {
    const auto& ranks = nodes_.placement.ranks_of[static_cast<std::size_t>(my_node())];
    collective::multinode::MessageStage stage(
        Peers{&endpoint_, ranks, local_rank(), collective::multinode::node_lane});
    body(stage);
  }
}

template <class Body>
auto MultiNodeCommunicator::guarded(Body body) {
  if (!failed_.empty()) [[unlikely]]
    throw_out_of_step(failed_);
  if (is_within_call_) {
    call_ = calls_.number() + 1;
    failure_.check(call_);
    return body();
  }
  try {
    call_ = calls_.number() + 1;
    failure_.check(call_);
    return body();
  } catch (const AlreadyTold& error) {
    stop(error.why());
    throw;
  } catch (const OutOfStep& error) {
    give_up(error.what(), error.first_call() > 0 ? error.first_call() : call_);
    throw;
  } catch (const std::exception& error) {
    give_up(error.what(), call_);
    throw;
  } catch (...) {  // the program's operator may throw anything
    give_up("the program's operator threw an exception", call_);
    throw;
  }
}

/// Runs body(), which uses the window; if it throws the window is of no more use.
template <class Body>
auto MultiNodeCommunicator::through_ring(Body body) {
  try {
    return body();
  } catch (...) {
    WindowCache::instance().abandon(*std::exchange(ring_, nullptr));
    throw;
  }
}

/// The ranks of this node that share memory hold each other to it; their mismatch detection counts the same
/// calls. Messages meet those of the same call alone.
inline void MultiNodeCommunicator::begin(const machine::CallFacts& call) {
  calls_.add(call);
  endpoint_.begin_call(calls_.fingerprint());
  flight::note_call(calls_.number(), call.bytes);
  notices_.look_in_call(call_, failure_);
  if (state_) state_->machine.begin_call(state_->mismatch_detection.begin(call));
}

/// Runs body(plan) for a call that the aggregation nodes do, and counts it.
template <class Body>
void MultiNodeCommunicator::offload(const machine::CallFacts& call, Body body) {
  static const machine::Waiter without_waits;
  const statistics::Recorder recorder(counters_.row({call.collective, call.bytes, plan::Algorithm::sharp,
                                                     statistics::Carrier::aggregation_nodes}),
                                      state_ ? state_->machine.waiter() : without_waits);
  guarded([&] {
    begin(call);
    body((*with_sharp_)(call.collective, call.bytes));
  });
  asking::note_collective();
}

/// Runs body(plan) and counts the call; false, with nothing done, when the plan leaves it to the host.
template <class Body>
bool MultiNodeCommunicator::serve(const machine::CallFacts& call, Body body) {
  return serve_call(selector_(call.collective, call.bytes).algorithm, call, body);
}

template <class Body>
bool MultiNodeCommunicator::serve(Collective collective, std::size_t bytes, Body body) {
  return serve({collective, 0, bytes}, body);
}

template <class Body>
bool MultiNodeCommunicator::serve_rooted(Collective collective, std::size_t bytes, int root, Body body) {
  return serve({collective, root, bytes}, body);
}

/// The same where the body has an algorithm of its own, `ran`, and the plan says only who serves the call.
template <class Body>
bool MultiNodeCommunicator::serve_as(plan::Algorithm ran, Collective collective, std::size_t bytes,
                                     Body body) {
  return serve_call(ran, {collective, 0, bytes}, body);
}

template <class Body>
bool MultiNodeCommunicator::serve_call(plan::Algorithm ran, const machine::CallFacts& call, Body body) {
  const plan::NetworkPlan& plan = selector_(call.collective, call.bytes);
  if (plan.algorithm == plan::Algorithm::host) return false;
  count_and_run(ran, call, plan, body);
  return true;
}

template <class Body>
void MultiNodeCommunicator::count_and_run(plan::Algorithm ran, const machine::CallFacts& call,
                                          const plan::NetworkPlan& plan, Body body) {
  static const machine::Waiter without_waits;
  const std::string passed_over = why_passed_over(call.collective, plan);
  statistics::Row* const row =
      is_within_call_
          ? nullptr
          : counters_.row({call.collective, call.bytes, ran, statistics::Carrier::messages, &passed_over});
  const statistics::Recorder recorder(row, state_ ? state_->machine.waiter() : without_waits);
  guarded([&] {
    begin(call);
    body(plan);
  });
  asking::note_collective();
}

}  // namespace espalier::runtime
