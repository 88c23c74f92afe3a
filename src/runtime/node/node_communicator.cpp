// The life of a communicator of one node; its collectives are in the files of their families.
#include "runtime/node/node_communicator.hpp"

#include <utility>

#include "plan/nonblocking_rules.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

NodeCommunicator::NodeCommunicator(const NodeShare& agreement, int rank, int size,
                                   std::shared_ptr<const GroupPlans> plans)
    : Communicator(rank, size),
      state_(*Process::instance().node(), agreement, rank, {}, Process::instance().hook_in_waits(),
             std::move(plans)) {}

bool NodeCommunicator::refuse_own_block(const machine::CallFacts& call, std::size_t sent,
                                        std::size_t expected) {
  return state_.serve(
      call, [&](const plan::Plan&) { state_.mismatch_detection.fail_by_length(rank(), sent, expected); });
}

bool NodeCommunicator::limit_waits(int timeout_ms) {
  state_.mismatch_detection.limit_waits(std::int64_t{timeout_ms} * 1'000'000);
  return true;
}

bool NodeCommunicator::sleep_in_waits(bool on) {
  state_.sleep_in_waits(on);
  return true;
}

bool NodeCommunicator::set_label(std::uint16_t label) {
  state_.mismatch_detection.set_label(label);
  return true;
}

bool NodeCommunicator::name_labels(std::vector<std::string> names) {
  state_.mismatch_detection.name_labels(std::move(names));
  return true;
}

KeptNonblocking NodeCommunicator::lines() {
  static const bool is_off = plan::nonblocking_is_off();
  if (is_off) return nullptr;
  if (!nonblocking_)
    nonblocking_ = Nonblocking::open({state_.arena, state_.share, state_.layout}, rank(),
                                     state_.machine.waiter().policy());
  return nonblocking_;
}

KeptNonblocking NodeCommunicator::nonblocking(const collective::PersistentSpec& spec, std::string& why) {
  static const bool is_off = plan::nonblocking_is_off();
  if (is_off) return nullptr;
  const std::size_t most = state_.arena.budget() / 8;
  const bool is_small = spec.bytes <= most && spec.bytes * static_cast<std::size_t>(size()) <= most;
  if (state_.selector(spec.collective, spec.bytes).algorithm == plan::Algorithm::host) {
    why = Communicator::why_host(spec.collective);
    return nullptr;
  }
  if (is_small)
    if (auto found = lines()) return found;
  why = Nonblocking::no_memory;
  return nullptr;
}

std::string NodeCommunicator::why_host(Collective collective) const {
  return state_.lacks_slots() ? "the shared-memory budget has no room for its slots (see ESPALIER_SHM)"
                              : Communicator::why_host(collective);
}

}  // namespace espalier::runtime
