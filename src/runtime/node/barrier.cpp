// Barrier on one node.
#include "collective/node/barrier.hpp"

#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

using plan::Algorithm;
using plan::Plan;

bool NodeCommunicator::barrier() {
  machine::HostMachine& m = state_.machine;
  return state_.serve(Collective::barrier, 0, [&](const Plan& plan) {
    if (plan.algorithm == Algorithm::exchange) return collective::barrier_exchange(m);
    if (plan.algorithm == Algorithm::central) return collective::barrier_central(m);
    const TreePositions::Pair& pair = state_.positions.of(plan, 0);
    collective::barrier_tree(m, pair.gather, pair.release, plan);
  });
}

}  // namespace espalier::runtime
