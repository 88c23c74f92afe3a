// What the network stage of one segment costs.
#pragma once

#include "base/collective.hpp"
#include "plan/cost/call_cost.hpp"
#include "plan/plan.hpp"

namespace espalier::plan {

/// How many leaders of a node carry a share (collective/multinode/allreduce.hpp, ring_blocks.hpp): one, but
/// for an allreduce, or an allgather by `ring`, whose rule says more.
int leaders_of(Collective collective, const NetworkPlan& plan, int ranks_per_node, bool node_has_memory);

/// Messages of a leader when `leaders` of them use the node's link together.
Wire shared_by(const CostParameters& parameters, int leaders);

/// A segment of `bytes` (of a rank's vector) between `nodes` nodes. Throws Error for an algorithm that the
/// collective does not have between nodes, and for `host`, about which nothing is known. `vectors`: how many
/// of them each node brings into a scan, or blocks into a collective that moves them.
Cost network_cost(Collective collective, const NetworkPlan& plan, const Wire& wire, int nodes, int vectors,
                  double bytes);

}  // namespace espalier::plan
