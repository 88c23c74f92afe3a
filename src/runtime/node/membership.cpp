#include "runtime/node/membership.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/config.hpp"
#include "base/error.hpp"
#include "memory/preferred_node.hpp"
#include "plan/selector.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {
namespace {

using machine::Layout;
using memory::Identity;

// Murmur's finalizer: each bit of the input changes half of the output's.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

/// The ranks' numbers on this node; empty: some rank is on another one, or takes no part.
std::vector<int> ranks_on_node(const NodeState& node, const std::vector<int>& processes) {
  std::vector<int> ranks;
  ranks.reserve(processes.size());
  for (const int process : processes) {
    const int rank = node.rank_of(process);
    if (rank < 0) return {};
    ranks.push_back(rank);
  }
  return ranks;
}

Layout registered_layout(const memory::Registration& registration) {
  Layout layout = layout_for(registration.ranks);
  layout.slots = registration.slot_count;
  layout.many_pairwise = registration.many_pairwise != 0;
  layout.compact = true;
  layout.slots_from = Layout::no_slots_yet;
  return layout;
}

/// Backs and clears the flag lines of all ranks, and says which processes they are.
bool prepare_lines(const NodeState& node, const std::vector<int>& ranks, const Layout& layout,
                   std::uint64_t offset) {
  memory::Arena& arena = *node.arena();
  if (!arena.reserve_around({offset, layout.lines_bytes()})) return false;
  std::byte* share = arena.at(offset);
  std::memset(share, 0, layout.lines_bytes());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const ProcessMark mark = node.mark_of(ranks[i]);
    std::memcpy(share + layout.process(static_cast<int>(i)), &mark, sizeof mark);
  }
  return true;
}

memory::ShareDirectory::Found find_or_make(const NodeState& node, const Membership& membership,
                                           const Identity& group, const std::vector<int>& ranks) {
  Layout layout;
  const auto make = [&] {
    const memory::Arena& arena = *node.arena();
    const double spent = static_cast<double>(arena.used()) / static_cast<double>(arena.budget());
    layout = layout_of_lines(spent, static_cast<int>(ranks.size()), node.size(), node.known_ranks_per_core());
    return memory::NewShare{layout.lines_bytes(), node.known_ranks_per_core(), layout.slots,
                            layout.many_pairwise};
  };
  const auto prepare = [&](std::uint64_t offset) { return prepare_lines(node, ranks, layout, offset); };
  return node.directory()->obtain(identity_of(membership.communicator, membership.processes), group,
                                  static_cast<int>(ranks.size()), make, prepare);
}

/// What other processes have written there is compared with what this one knows, before it is used.
void check(const memory::Registration& registration, const memory::Share& share, std::size_t ranks) {
  const auto slots = static_cast<unsigned>(registration.slot_count);
  const bool sound = registration.ranks == static_cast<int>(ranks) && slots <= 64 &&
                     std::has_single_bit(slots) &&
                     registration.bytes == registered_layout(registration).lines_bytes() &&
                     Process::instance().node()->arena()->holds(share);
  if (!sound)
    throw Error(
        "the directory of shares in the node's memory is damaged: a process has written where it must not");
}

topology::Group groups_of(const NodeState& node, const std::vector<topology::CpuSet>& masks) {
  if (masks.size() <= 2) return topology::flat_group(static_cast<int>(masks.size()));
  return topology::group_ranks(node.machine(), masks);
}

/// -1: not known, or not one.
int numa_node_of(const topology::CpuSet& mask) {
  const int node = mask.empty() ? -1 : memory::numa_node_of(mask.first());
  for (int cpu = mask.first(); cpu >= 0 && node >= 0; cpu = mask.next(cpu))
    if (memory::numa_node_of(cpu) != node) return -1;
  return node;
}

std::shared_ptr<const GroupPlans> plans_of(const NodeState& node, const NodeShare& share, int rank,
                                           const std::vector<int>& ranks) {
  std::vector<topology::CpuSet> masks;
  std::vector<int> numa_nodes;
  for (const int each : ranks) {
    masks.push_back(node.affinity_of(each));
    numa_nodes.push_back(numa_node_of(masks.back()));
  }
  return std::make_shared<const GroupPlans>(share, rank, groups_of(node, masks), std::move(numa_nodes));
}

/// What this process has settled for groups of ranks, for the next communicators of these.
class KnownGroups {
 public:
  template <class Make>
  std::shared_ptr<const GroupPlans> find(const Identity& group, double ranks_per_core, Make make) {
    const std::lock_guard lock(mutex_);
    if (plans_.size() > most_groups) plans_.clear();  // communicators keep what they have
    auto& plans = plans_[{group.high, group.low, ranks_per_core}];
    if (!plans) plans = make();
    return plans;
  }

 private:
  static constexpr std::size_t most_groups = 1024;
  std::mutex mutex_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, double>, std::shared_ptr<const GroupPlans>> plans_;
};

KnownGroups& known_groups() {
  static KnownGroups& groups = *new KnownGroups;  // never destroyed, as Process
  return groups;
}

}  // namespace

Layout layout_of_lines(double spent, int ranks, int ranks_of_node, double ranks_per_core) {
  Layout layout =
      spent > shorter_from ? layout_for(ranks) : layout_on_one_node(ranks, ranks_of_node, ranks_per_core);
  constexpr int fewest_slots = 2;
  if (spent > shortest_from) layout.slots = std::min(layout.slots, fewest_slots);
  layout.compact = true;
  layout.slots_from = Layout::no_slots_yet;
  return layout;
}

Identity identity_of(const Identity& seed, const std::vector<int>& numbers) {
  Identity result = {mixed(seed.high + numbers.size()), mixed(seed.low ^ 0x9e3779b97f4a7c15ull)};
  for (const int number : numbers) {
    const auto word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(number));
    result.high = mixed(result.high ^ word);
    result.low = mixed(result.low + word) + result.high;
  }
  return result;
}

bool spans_nodes(const std::vector<int>& processes) {
  const NodeState* node = Process::instance().node();
  return node && !processes.empty() && ranks_on_node(*node, processes).empty();
}

bool has_share(const Membership& membership) {
  const NodeState* node = Process::instance().node();
  return node && node->arena() &&
         node->directory()->has(identity_of(membership.communicator, membership.processes));
}

std::optional<KnownShare> find_share(const Membership& membership) {
  const NodeState* node = Process::instance().node();
  if (!node || !node->arena() || !node->settings_agree() || by_messages()) return std::nullopt;
  if (Config::instance().text("ESPALIER_SETUP") == "agree") return std::nullopt;
  if (plan::Table::instance().has_trials()) return std::nullopt;  // communicators of one group share plans
  const std::vector<int> ranks = ranks_on_node(*node, membership.processes);
  if (ranks.empty()) return std::nullopt;
  const Identity group = identity_of({node->id(), node->job()}, membership.processes);
  const auto found = find_or_make(*node, membership, group, ranks);
  if (found.offset == 0) return std::nullopt;
  const memory::Registration& registration = found.registration;
  check(registration, {found.offset, registration.bytes}, ranks.size());
  KnownShare known;
  known.node = facts_of_node(registration.ranks_per_core, registered_layout(registration));
  known.node.share = {found.offset, registration.bytes};
  node->arena()->reserve_around(known.node.share);  // backed it is; this maps it
  known.node.registered = Registered{registration.group, registration.generation};
  known.plans = known_groups().find(group, registration.ranks_per_core,
                                    [&] { return plans_of(*node, known.node, membership.rank, ranks); });
  return known;
}

}  // namespace espalier::runtime
