// Barrier over nodes.
#include "collective/multinode/barrier.hpp"

#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using plan::NetworkPlan;

// The root of the tree is any node, here the first.
const collective::Place& MultiNodeCommunicator::place_without_root(const NetworkPlan& plan) {
  return roles(plan, nodes_.placement.ranks_of.front().front()).place;
}

bool MultiNodeCommunicator::barrier() {
  if (offloads(Collective::barrier, 0, nullptr)) return barrier_offloaded(), true;
  return serve(Collective::barrier, 0, [&](const NetworkPlan& plan) {
    const collective::Place& place = place_without_root(plan);
    on_stage([&](auto& stage) {
      collective::nodes::barrier(stage, one_a_node(counterparts_.front()), place, plan.algorithm);
    });
  });
}

}  // namespace espalier::runtime
