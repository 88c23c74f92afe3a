#include "plan/cost/network.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/cost/rounds.hpp"
#include "plan/cost/tree.hpp"
#include "tree/compose.hpp"

namespace espalier::plan {
namespace {

/// The network stage of a segment, as formulas see it. `vectors`: as for network_cost().
struct NetworkStage {
  const NetworkPlan& plan;
  const Wire& wire;
  int nodes, vectors;
  double bytes;

  tree::Tree tree() const { return tree::compose(topology::flat_group(nodes), plan.tree, 0); }
  int ways() const { return parts_a_round(nodes); }
  double node_bytes() const { return vectors * bytes; }
};

// `block`: of a rank for a rank, or for the root.
Cost direct(const NetworkStage& s, double block) {
  if (block < static_cast<double>(s.plan.segment)) return messages(s.wire, s.nodes - 1, s.vectors * block);
  return messages(s.wire, (s.nodes - 1) * s.vectors, block);
}

using Formula = Cost (*)(const NetworkStage&);
struct Price {
  CollectiveSet collectives;
  Algorithm algorithm;
  Formula formula;
};

// What the network stages of algorithm_uses cost (docs/cost-model.md). What aggregation nodes cost is not known; a
// reduce_scatter by `allreduce` costs what that does.
const std::initializer_list<Price>& prices() {
  using enum Collective;
  using A = Algorithm;
  using S = const NetworkStage&;
  static const CollectiveSet allgathers(allgather, allgatherv), scans(scan, exscan),
      sums(Collective::allreduce);
  static const std::initializer_list<Price> all = {
      {CollectiveSet(barrier), A::dissemination,
       [](S s) { return dissemination(s.wire, s.nodes, s.ways()); }},
      {CollectiveSet(bcast), A::tree, [](S s) { return tree_down(s.tree(), s.wire, s.bytes); }},
      {CollectiveSet(reduce), A::tree, [](S s) { return tree_up(s.tree(), s.wire, s.bytes); }},
      {CollectiveSet(barrier, Collective::allreduce), A::tree,
       [](S s) { return tree_up(s.tree(), s.wire, s.bytes) + tree_down(s.tree(), s.wire, s.bytes); }},
      {CollectiveSet(bcast), A::scatter_allgather,
       [](S s) { return scatter_allgather(s.wire, s.nodes, s.bytes); }},
      {CollectiveSet(reduce), A::rabenseifner,
       [](S s) { return reduce_rabenseifner(s.wire, s.nodes, s.bytes); }},
      {sums, A::rabenseifner, [](S s) { return allreduce_rabenseifner(s.wire, s.nodes, s.bytes); }},
      {sums, A::recursive_doubling, [](S s) { return recursive_doubling(s.wire, s.nodes, s.bytes); }},
      {sums, A::ring, [](S s) { return ring(s.wire, s.nodes, s.bytes); }},
      {sums, A::notified_ring, [](S s) { return ring(s.wire, s.nodes, s.bytes); }},
      {sums, A::dissemination, [](S s) { return partial_reductions(s.wire, s.nodes, s.bytes); }},
      {sums, A::notified_dissemination, [](S s) { return partial_reductions(s.wire, s.nodes, s.bytes); }},
      {sums, A::gather_all, [](S s) { return gather_all(s.wire, s.nodes, s.bytes, s.ways()); }},
      {allgathers, A::dissemination,
       [](S s) { return allgather_bruck(s.wire, s.nodes, s.node_bytes(), s.ways()); }},
      {allgathers, A::ring, [](S s) { return allgather_ring(s.wire, s.nodes, s.node_bytes()); }},
      {allgathers, A::notified_ring, [](S s) { return allgather_ring(s.wire, s.nodes, s.node_bytes()); }},
      {CollectiveSet(gather, gatherv, scatter, scatterv), A::direct, [](S s) { return direct(s, s.bytes); }},
      {CollectiveSet(alltoall, alltoallv), A::direct,
       [](S s) { return direct(s, s.bytes / s.nodes / s.vectors); }},
      {CollectiveSet(reduce_scatter, reduce_scatter_block), A::transpose,
       [](S s) { return reduce_scatter_direct(s.wire, s.nodes, s.bytes); }},
      {scans, A::recursive_doubling, [](S s) { return scan_doubling(s.wire, s.nodes, s.bytes); }},
      {scans, A::chain, [](S s) { return chain(s.wire, s.nodes, s.bytes); }},
      {scans, A::gather_all,
       [](S s) { return scan_gather_all(s.wire, s.nodes, s.vectors, s.bytes, s.ways()); }},
      {scans, A::transpose, [](S s) { return scan_transpose(s.wire, s.nodes, s.vectors, s.bytes); }},
  };
  return all;
}

}  // namespace

int leaders_of(Collective collective, const NetworkPlan& plan, int ranks_per_node, bool node_has_memory) {
  const bool is_split = collective == Collective::allreduce ||
                        (by_messages(plan.algorithm) == Algorithm::ring && traits(collective).moves_blocks);
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
  for (const Price& price : prices())
    if (price.algorithm == plan.algorithm && price.collectives.contains(collective))
      return price.formula({plan, wire, nodes, vectors, bytes});
  throw Error(formatted("the cost model knows nothing of {} by \"{}\" between nodes", to_string(collective),
                        to_string(plan.algorithm)));
}

}  // namespace espalier::plan
