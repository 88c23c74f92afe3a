#include "plan/cost/network.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/cost/rounds.hpp"
#include "plan/cost/tree.hpp"
#include "tree/compose.hpp"

namespace espalier::plan {
namespace {

Cost tree_cost(Collective collective, const tree::Spec& spec, const Wire& wire, int nodes, double bytes) {
  const tree::Tree tree = tree::compose(topology::flat_group(nodes), spec, 0);
  if (collective == Collective::bcast) return tree_down(tree, wire, bytes);
  if (collective == Collective::reduce) return tree_up(tree, wire, bytes);
  return tree_up(tree, wire, bytes) + tree_down(tree, wire, bytes);
}

// A notification takes as long as the message that carries it.
bool is_ring(Algorithm algorithm) {
  return algorithm == Algorithm::ring || algorithm == Algorithm::notified_ring;
}

// `ranks` blocks of each node, or of an alltoall as many for each other rank.
Cost blocks_cost(Collective collective, const NetworkPlan& plan, const Wire& wire, int nodes, int ranks,
                 double bytes) {
  if (is_ring(plan.algorithm)) return allgather_ring(wire, nodes, ranks * bytes);
  if (plan.algorithm == Algorithm::dissemination)
    return allgather_bruck(wire, nodes, ranks * bytes, parts_a_round(nodes));
  const bool to_all = collective == Collective::alltoall || collective == Collective::alltoallv;
  const double block = to_all ? bytes / nodes / ranks : bytes;
  if (block < static_cast<double>(plan.segment)) return messages(wire, nodes - 1, ranks * block);
  return messages(wire, (nodes - 1) * ranks, block);
}

}  // namespace

bool moves_blocks(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
    case Collective::alltoall:
    case Collective::alltoallv:
      return true;
    default:
      return false;
  }
}

int leaders_of(Collective collective, const NetworkPlan& plan, int ranks_per_node, bool node_has_memory) {
  const bool is_split =
      collective == Collective::allreduce || (is_ring(plan.algorithm) && moves_blocks(collective));
  if (!is_split || !node_has_memory) return 1;
  return plan.leaders == 0 ? ranks_per_node : std::min(plan.leaders, ranks_per_node);
}

Wire shared_by(const CostParameters& parameters, int leaders) {
  Wire wire = parameters.network;
  wire.per_byte = std::max(wire.per_byte, leaders * parameters.link_per_byte);
  return wire;
}

Cost network_cost(Collective collective, const NetworkPlan& plan, const Wire& wire, int nodes, int vectors,
                  double bytes) {
  if (moves_blocks(collective) && plan.algorithm != Algorithm::host)
    return blocks_cost(collective, plan, wire, nodes, vectors, bytes);
  const bool is_scan = collective == Collective::scan || collective == Collective::exscan;
  switch (plan.algorithm) {
    case Algorithm::dissemination:
      return collective == Collective::barrier ? dissemination(wire, nodes, parts_a_round(nodes))
                                               : partial_reductions(wire, nodes, bytes);
    case Algorithm::tree:
      return tree_cost(collective, plan.tree, wire, nodes, bytes);
    case Algorithm::scatter_allgather:
      return scatter_allgather(wire, nodes, bytes);
    case Algorithm::rabenseifner:
      return collective == Collective::reduce ? reduce_rabenseifner(wire, nodes, bytes)
                                              : allreduce_rabenseifner(wire, nodes, bytes);
    case Algorithm::ring:
    case Algorithm::notified_ring:
      return ring(wire, nodes, bytes);
    case Algorithm::recursive_doubling:
      return is_scan ? scan_doubling(wire, nodes, bytes) : recursive_doubling(wire, nodes, bytes);
    case Algorithm::gather_all:
      return is_scan ? scan_gather_all(wire, nodes, vectors, bytes, parts_a_round(nodes))
                     : gather_all(wire, nodes, bytes, parts_a_round(nodes));
    case Algorithm::chain:
      return chain(wire, nodes, bytes);
    case Algorithm::transpose:
      if (!is_scan) return reduce_scatter_direct(wire, nodes, bytes);
      return scan_transpose(wire, nodes, vectors, bytes);
    default:
      throw Error(formatted("the cost model knows nothing of {} by \"{}\" between nodes",
                            to_string(collective), to_string(plan.algorithm)));
  }
}

}  // namespace espalier::plan
