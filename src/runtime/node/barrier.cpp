// Barrier on one node.
#include "collective/dispatch.hpp"
#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

using plan::Plan;

bool NodeCommunicator::barrier() {
  return state_.serve(Collective::barrier, 0, [&](const Plan& plan) {
    collective::by_plan::barrier(state_.machine, state_.positions, plan);
  });
}

}  // namespace espalier::runtime
