// How long a collective over nodes takes by the cost model, and how much of it is the node stage (HIER 3.1,
// 4.4). Pure functions; docs/cost-model.md has the model and its limits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/collective.hpp"
#include "plan/cost/node.hpp"
#include "plan/plan.hpp"

namespace espalier::plan {

/// A call on nodes that have equally many ranks, with a predefined operator.
struct NodesCall {
  Collective collective = Collective::barrier;
  std::size_t bytes = 0;  ///< of a rank
  int nodes = 2;
  int ranks_per_node = 1;
  bool node_has_memory = true;  ///< shared memory; else node stages go by messages
  bool consecutive = true;      ///< each node's ranks follow on each other
};

/// Times in nanoseconds.
struct Prediction {
  double total = 0;
  double network = 0;         ///< what would be left if the node stage cost nothing
  double node = 0;            ///< total - network: the part of the node stage that is not overlapped
  double node_alone = 0;      ///< all node stages one after the other, overlapped or not
  double ideal_speed_up = 1;  ///< total / network (HIER 4.4)
  int rounds = 0;             ///< messages one after the other that a segment takes between the nodes
  std::size_t segments = 0;
};

/// One of the collectives within the nodes that a call is made of.
struct NodeStep {
  NodePiece piece;
  std::size_t bytes = 0;  ///< of a full segment: what the node's rules are asked with
  bool releases = false;  ///< runs after the network stage, not before it
  double share = 1;       ///< of the segment's bytes that it moves
};

/// What each node does, in order.
std::vector<NodeStep> node_steps(const NodesCall& call, const NetworkPlan& network);

/// The node's plan for one of its collectives.
using NodePlanOf = std::function<Plan(Collective, std::size_t bytes)>;

/// Throws Error when the network plan is `host`, the shape has less than two nodes or too many ranks, or the
/// message is cut into more segments than can be followed.
Prediction predict(const NodesCall& call, const NetworkPlan& network, const NodePlanOf& node_plan,
                   const CostParameters& parameters);

}  // namespace espalier::plan
