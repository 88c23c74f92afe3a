// What the node stages of a segment cost: through shared memory (collective/multinode/stage/shared_stage.hpp)
// or by messages (message_stage.hpp). All functions return nanoseconds of the leader.
#pragma once

#include "base/collective.hpp"
#include "plan/cost/parameters.hpp"
#include "plan/plan.hpp"

namespace espalier::plan {

/// A collective within a node that is a node stage, or half of one.
struct NodePiece {
  Collective collective = Collective::barrier;
  int ranks = 1;    ///< of the node
  int leaders = 1;  ///< how many of them get a slice (reduce_scatter), or have one (allgatherv)
};

/// `bytes` by the node's own plan. A tree of a plan is taken over ranks without domains, since nothing is
/// known of the machine. RG II and III-C: flags go tree level by tree level, copies and folds of neighbouring
/// chunks overlap.
double shared_cost(const NodePiece& piece, const Plan& plan, const NodeCosts& costs, double bytes);

/// The same on binomial trees of messages (HIER 3.1: log2(c) t_local). Throws Error for pieces that the
/// message stage does not have.
double message_cost(const NodePiece& piece, const NodeCosts& costs, double bytes);

}  // namespace espalier::plan
