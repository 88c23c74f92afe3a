// Barrier over nodes.
#include "collective/multinode/barrier.hpp"

#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using plan::NetworkPlan;

// The root of the tree is any node, here the first.
const collective::TreePosition& MultiNodeCommunicator::place_without_root(const NetworkPlan& plan) {
  return roles(plan, nodes_.placement.ranks_of.front().front()).position;
}

bool MultiNodeCommunicator::barrier() {
  if (offloads(Collective::barrier, 0, nullptr)) return barrier_offloaded(), true;
  return serve(Collective::barrier, 0, [&](const NetworkPlan& plan) {
    const collective::TreePosition& position = place_without_root(plan);
    on_stage([&](auto& stage) {
      collective::multinode::barrier(stage, one_a_node(counterparts_.front()), position, plan.algorithm);
    });
  });
}

}  // namespace espalier::runtime
