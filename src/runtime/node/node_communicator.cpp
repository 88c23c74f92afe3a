// The life of a communicator of one node; its collectives are in the files of their families.
#include "runtime/node/node_communicator.hpp"

#include <utility>

#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

NodeCommunicator::NodeCommunicator(const NodeShare& agreement, int rank, int size,
                                   std::shared_ptr<const GroupPlans> plans)
    : Communicator(rank, size),
      state_(*Process::instance().node(), agreement, rank, {}, Process::instance().hook_in_waits(),
             std::move(plans)) {}

bool NodeCommunicator::limit_waits(int timeout_ms) {
  state_.mismatch_detection.limit_waits(std::int64_t{timeout_ms} * 1'000'000);
  return true;
}

std::string NodeCommunicator::why_host() const {
  return state_.lacks_slots() ? "the shared-memory budget has no room for its slots (see ESPALIER_SHM)"
                              : Communicator::why_host();
}

}  // namespace espalier::runtime
