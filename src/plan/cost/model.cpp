#include "plan/cost/model.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/cost/join.hpp"
#include "plan/cost/network.hpp"

namespace espalier::plan {
namespace {

constexpr int most_ranks = 1 << 20;
constexpr std::size_t most_segments = std::size_t{1} << 22;

void check(const NodesCall& call, const NetworkPlan& network) {
  if (call.nodes < 2)
    throw Error(formatted("{} node: the cost model is about two nodes or more", call.nodes));
  if (call.ranks_per_node < 1 || call.nodes > most_ranks / call.ranks_per_node)
    throw Error(formatted("{} nodes of {} ranks: the cost model takes 1 to {} ranks in all", call.nodes,
                          call.ranks_per_node, most_ranks));
  if (!traits(call.collective).moves_blocks && call.bytes / network.segment >= most_segments)
    throw Error(formatted("{} bytes in segments of {}: the cost model follows up to {} segments", call.bytes,
                          network.segment, most_segments));
}

/// A call with its plans: the costs of a segment.
class Segmented {
 public:
  Segmented(const NodesCall& call, const NetworkPlan& network, const NodePlanOf& node_plan,
            const CostParameters& parameters)
      : call_(call),
        network_(network),
        parameters_(parameters),
        leaders_(leaders_of(call.collective, network, call.ranks_per_node, call.node_has_memory)),
        wire_(shared_by(parameters, leaders_)),
        steps_(node_steps(call, network)) {
    for (const NodeStep& step : steps_) plans_.push_back(node_plan(step.piece.collective, step.bytes));
  }

  SegmentCost of(std::size_t bytes) const {
    const auto b = static_cast<double>(bytes);
    SegmentCost cost;
    cost.network = network_cost(call_.collective, network_, wire_, call_.nodes, vectors(), b / leaders_);
    for (std::size_t i = 0; i < steps_.size(); ++i)
      (steps_[i].releases ? cost.release : cost.gather) += step_cost(i, b);
    // HIER 3.5, step 4: each rank puts the fold of the nodes below in front of its own result.
    if (traits(call_.collective).is_scan && scans_totals(network_.algorithm, call_.consecutive))
      cost.release += b * parameters_.node.fold_per_byte;
    return cost;
  }

 private:
  int vectors() const {
    const bool of_nodes =
        traits(call_.collective).is_scan && scans_totals(network_.algorithm, call_.consecutive);
    return of_nodes ? 1 : call_.ranks_per_node;
  }
  double step_cost(std::size_t i, double bytes) const {
    bytes *= steps_[i].share;
    return call_.node_has_memory ? shared_cost(steps_[i].piece, plans_[i], parameters_.node, bytes)
                                 : message_cost(steps_[i].piece, parameters_.node, bytes);
  }

  const NodesCall& call_;
  const NetworkPlan& network_;
  const CostParameters& parameters_;
  int leaders_;
  Wire wire_;
  std::vector<NodeStep> steps_;
  std::vector<Plan> plans_;
};

SegmentCost without_node(SegmentCost cost) {
  cost.gather = cost.release = 0;
  return cost;
}

// The blocks come together on a node, or go apart. Of an allgather the whole is copied out; of an alltoall a
// rank reads a part of what each other has.
std::vector<NodeStep> block_steps(const NodesCall& call) {
  const auto step = [&](Collective collective, bool releases, double share) {
    const double bytes = static_cast<double>(call.bytes) * share;
    return NodeStep{{collective, call.ranks_per_node, 1}, static_cast<std::size_t>(bytes), releases, share};
  };
  switch (call.collective) {
    case Collective::allgather:
    case Collective::allgatherv:
      return {step(Collective::gather, false, 1),
              step(Collective::bcast, true, static_cast<double>(call.nodes) * call.ranks_per_node)};
    case Collective::scatter:
    case Collective::scatterv:
      return {step(Collective::scatter, true, 1)};
    case Collective::alltoall:
    case Collective::alltoallv:
      return {step(Collective::gather, false, 1.0 / call.ranks_per_node)};
    default:
      return {step(Collective::gather, false, 1)};
  }
}

}  // namespace

std::vector<NodeStep> node_steps(const NodesCall& call, const NetworkPlan& network) {
  const int leaders = leaders_of(call.collective, network, call.ranks_per_node, call.node_has_memory);
  const std::size_t bytes = std::min(call.bytes, network.segment);
  const auto step = [&](Collective collective, bool releases) {
    return NodeStep{{collective, call.ranks_per_node, leaders}, bytes, releases};
  };
  switch (call.collective) {
    case Collective::barrier:
      return {step(Collective::barrier, false)};
    case Collective::bcast:
      return {step(Collective::bcast, true)};
    case Collective::reduce:
      return {step(Collective::reduce, false)};
    case Collective::allreduce:
      if (leaders > 1) return {step(Collective::reduce_scatter, false), step(Collective::allgatherv, true)};
      return {step(Collective::reduce, false), step(Collective::bcast, true)};
    default:
      break;
  }
  if (traits(call.collective).moves_blocks) return block_steps(call);
  if (network.algorithm == Algorithm::transpose && !traits(call.collective).is_scan) {
    // Messages alone cannot split it; the fold at a leader and back stands for what they do.
    if (!call.node_has_memory) return {step(Collective::reduce, false), step(Collective::scatter, true)};
    return {{{Collective::reduce_scatter, call.ranks_per_node, call.ranks_per_node}, bytes, false, 1}};
  }
  if (!traits(call.collective).is_scan) return {};
  if (scans_totals(network.algorithm, call.consecutive))
    return {step(call.collective, false), step(Collective::bcast, true)};
  return {step(Collective::gather, false), step(Collective::scatter, true)};
}

Prediction predict(const NodesCall& call, const NetworkPlan& network, const NodePlanOf& node_plan,
                   const CostParameters& parameters) {
  check(call, network);
  const Segmented segmented(call, network, node_plan, parameters);
  const bool is_barrier = call.collective == Collective::barrier;
  Prediction result;
  if (call.bytes == 0 && !is_barrier) return result;
  // Blocks are not joined segment by segment.
  const std::size_t whole = std::max<std::size_t>(call.bytes, 1);
  const std::size_t length = traits(call.collective).moves_blocks ? whole : std::min(network.segment, whole);
  result.segments = is_barrier ? 1 : (call.bytes + length - 1) / length;
  const std::size_t full = result.segments - 1;
  const SegmentCost segment = segmented.of(is_barrier ? 0 : length);
  const SegmentCost last = segmented.of(is_barrier ? 0 : call.bytes - full * length);
  result.total = joined_time(segment, full, last);
  result.network = joined_time(without_node(segment), full, without_node(last));
  result.node = result.total - result.network;
  result.node_alone =
      static_cast<double>(full) * (segment.gather + segment.release) + last.gather + last.release;
  result.ideal_speed_up = result.network > 0 ? result.total / result.network : 1;
  result.rounds = segment.network.rounds;
  return result;
}

}  // namespace espalier::plan
