#include "runtime/node/group/group_plans.hpp"

#include <algorithm>
#include <utility>

#include "memory/flag_line.hpp"

namespace espalier::runtime {
namespace {

plan::Query shape_of(const NodeShare& agreement) {
  plan::Query shape;
  shape.ranks = shape.ranks_per_node = agreement.layout.ranks;
  shape.ranks_per_core = agreement.ranks_per_core;
  shape.single_copy = agreement.single_copy;
  shape.shared_heaps = agreement.shared_heaps;
  shape.prompt_yields = agreement.prompt_yields;
  return shape;
}

/// How many bytes, as rules count them, ride in the flag lines if the plan puts short messages there; 0: not
/// known, or none.
std::size_t most_in_lines(Collective collective, std::size_t ranks) {
  switch (collective) {
    case Collective::bcast:
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::allgather:
    case Collective::gather:
    case Collective::scan:
    case Collective::exscan:
    case Collective::alltoall:              // all blocks
    case Collective::reduce_scatter:        // the whole vector
    case Collective::reduce_scatter_block:  // likewise
      return memory::inline_capacity;
    case Collective::scatter:
      return memory::inline_capacity / ranks;  // the root's line has all blocks
    default:
      return 0;
  }
}

/// Along a tree of these, what ranks show is as long as the blocks or vectors of a whole subtree.
bool packs_subtrees(Collective collective) {
  return collective == Collective::allgather || collective == Collective::scan ||
         collective == Collective::exscan;
}

bool rides_in_lines(Collective collective, const plan::Plan& plan) {
  using enum plan::Algorithm;
  if (plan.algorithm == host) return true;
  const bool can = (plan.algorithm == tree && !packs_subtrees(collective)) || plan.algorithm == exchange ||
                   plan.algorithm == central || plan.algorithm == direct || plan.algorithm == chain;
  return can && plan.inlined && plan.zero_copy > memory::inline_capacity;
}

SlotLimits slots_from(const plan::Selector& selector, std::size_t ranks) {
  SlotLimits limits{};
  for (const Collective collective : all_collectives) {
    std::size_t& limit = limits[static_cast<std::size_t>(collective)];
    std::size_t bytes = 0;
    const std::size_t most = most_in_lines(collective, ranks);
    while (bytes <= most && most > 0 && rides_in_lines(collective, selector(collective, bytes))) ++bytes;
    limit = bytes;
  }
  limits[static_cast<std::size_t>(Collective::barrier)] = std::numeric_limits<std::size_t>::max();
  return limits;
}

SlotLimits endless() {
  SlotLimits limits{};
  limits.fill(std::numeric_limits<std::size_t>::max());
  return limits;
}

}  // namespace

const SlotLimits GroupPlans::never = endless();

GroupPlans::GroupPlans(const NodeShare& agreement, int rank, topology::Group groups, std::vector<int> nodes)
    : selector(plan::Table::instance(), shape_of(agreement)),
      positions(rank, agreement.layout.ranks, std::move(groups), selector.count()),
      slots_from(runtime::slots_from(selector, static_cast<std::size_t>(agreement.layout.ranks))),
      numa_nodes(std::move(nodes)) {}

}  // namespace espalier::runtime
