// Communicators whose ranks share memory without a word to each other: who they are is known, and which
// communicator it is.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "memory/share_directory.hpp"
#include "runtime/node/group/group_plans.hpp"
#include "runtime/setup/agreement.hpp"

namespace espalier::runtime {

/// One of the ranks of a communicator, as it knows them before it has any memory with them.
struct Membership {
  /// Equal on all ranks of this communicator, and of no other that the job ever has.
  memory::Identity communicator;
  int rank = 0;
  std::vector<int> processes;  ///< of each rank, as the job numbers them (the ranks of MPI_COMM_WORLD)
};

/// A hash of numbers, in order.
memory::Identity identity_of(const memory::Identity& seed, const std::vector<int>& numbers);

/// The layout of a new share without slots yet, where `spent` of the budget (0 to 1) is taken: programs may
/// have thousands of communicators at a time, and the more there are, the fewer lines each has.
machine::Layout layout_of_lines(double spent, int ranks, int ranks_of_node, double ranks_per_core);
/// Where it becomes another one.
inline constexpr double shorter_from = 0.25, shortest_from = 0.5;

/// What ranks of one node have, each by itself: what all of them would come to.
struct KnownShare {
  NodeShare node;
  std::shared_ptr<const GroupPlans> plans;
};

/// Local. None, on all ranks alike: they have to agree (runtime/setup/agreement.hpp), since not all of them
/// share this node's memory with the same settings, or the arena has no room left.
std::optional<KnownShare> find_share(const Membership& membership);
/// Whether another rank has found it.
bool has_share(const Membership& membership);
/// Whether some of them, as the job numbers them, are not on this node, so that find_share() finds nothing.
bool spans_nodes(const std::vector<int>& processes);

}  // namespace espalier::runtime
