// What a rank has settled for a group of ranks that share memory: plans, trees, and which calls need slots.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "base/collective.hpp"
#include "plan/selector.hpp"
#include "runtime/node/group/tree_positions.hpp"
#include "runtime/setup/agreement.hpp"
#include "topology/group.hpp"

namespace espalier::runtime {

/// By collective: calls of so many bytes and more may need slots; those of fewer bytes ride in flag lines.
using SlotLimits = std::array<std::size_t, collective_count>;

/// A pure function of what the ranks have agreed on. Immutable but for trees that are built when first needed;
/// thread-safe. Communicators of one group share it.
struct GroupPlans {
  /// `groups`: the ranks, by the machine's domains. `numa_nodes`: of each rank, -1 where it is not known or
  /// several; empty: each rank backs its own memory.
  GroupPlans(const NodeShare& agreement, int rank, topology::Group groups, std::vector<int> numa_nodes = {});

  plan::Selector selector;
  TreePositions positions;
  SlotLimits slots_from;
  std::vector<int> numa_nodes;

  /// No call needs slots to be looked for.
  static const SlotLimits never;
};

}  // namespace espalier::runtime
