// What the node stages of collective/multinode/ ask a communicator's ranks of one node for.
#pragma once

#include "runtime/node/shared_state.hpp"

namespace espalier::runtime {

/// The plans and tree positions of a node's ranks, as SharedStage asks for them.
struct NodePlans {
  SharedState* state;

  // A node has to do what the rules between nodes have decided, even if its own would leave it to the host.
  const plan::Plan& plan(Collective collective, std::size_t bytes) const {
    return state->selector(collective, bytes);
  }
  collective::TreePositionPair positions(const plan::Plan& plan, int root) const {
    return state->positions(plan, root);
  }
  const collective::ContiguousPosition& contiguous_position(int root) const {
    return state->positions.contiguous(root);
  }
};

}  // namespace espalier::runtime
