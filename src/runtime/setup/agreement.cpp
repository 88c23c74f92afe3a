#include "runtime/setup/agreement.hpp"

#include <algorithm>
#include <bit>

#include "base/config.hpp"
#include "base/format.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/setup/eligibility.hpp"
#include "runtime/setup/gathering.hpp"
#include "runtime/setup/multinode_agreement.hpp"

namespace espalier::runtime {
namespace {

// The judgement is the same on all ranks; only where the arena is missing does a rank know more.
std::string local_reason() {
  const NodeState* node = Process::instance().node();
  return node && !node->refusal().empty() ? ": " + node->refusal() : "";
}

Agreement agree_on_node(const Bootstrap& bootstrap, const std::vector<Eligibility>& all,
                        const machine::Layout& layout) {
  const std::size_t bytes = layout.bytes();
  const memory::Share share = {all.front().share, bytes};
  Agreement result;
  result.node = facts_of_node(all.front().ranks_per_core, layout);
  if (all.front().share == 0) {
    result.refusal =
        formatted("the shared-memory budget is spent ({} more wanted; see ESPALIER_SHM)", print_bytes(bytes));
    return result;
  }
  memory::Arena& arena = *Process::instance().node()->arena();
  const auto schedule =
      exchange(bootstrap, static_cast<std::int32_t>(prepare(arena, share, layout, bootstrap.rank)));
  if (std::count(schedule.begin(), schedule.end(), 0) == 0) {
    result.node.share = share;
    return result;
  }
  result.refusal = formatted("the machine has no {} of shared memory left", print_bytes(bytes));
  if (bootstrap.rank == 0) arena.free(share);
  return result;
}

void take_offer_back(const Bootstrap& bootstrap, const std::vector<Eligibility>& all,
                     const machine::Layout& layout) {
  const std::uint64_t share = all.front().share;
  if (bootstrap.rank == 0 && share != 0) Process::instance().node()->arena()->free({share, layout.bytes()});
}

// A slot that comes round again should have left its readers' own caches: taking lines back from there costs
// more than all else, and a root that waits for its readers' copies costs an oversubscribed core a switch
// (docs/performance.md). So few ranks have long rings, of up to 4 MiB together, which is more than most
// cores' caches. Not where the budget is small, and not for parts of a node, of which a program may have
// many.
int slots_of_whole_node(int ranks, std::size_t slot_bytes, int slots) {
  constexpr std::size_t most_slots = 32, most_bytes = std::size_t{4} << 20;
  const std::size_t rings = std::min(most_bytes, arena_bytes(ranks) / 16);
  const std::size_t fit = rings / (static_cast<std::size_t>(ranks) * slot_bytes);
  return std::max(slots, static_cast<int>(std::bit_floor(std::min(fit, most_slots))));
}

}  // namespace

machine::Layout layout_for(int ranks) {
  const Config& config = Config::instance();
  constexpr int slots = 8;
  machine::Layout layout;
  layout.ranks = ranks;
  layout.slot_bytes = machine::Layout::round_up(config.bytes("ESPALIER_SLOT"), machine::Layout::page);
  layout.has_pairwise = config.flag("ESPALIER_PAIRWISE");
  layout.short_rings = config.flag("ESPALIER_SHORT_RINGS");
  layout.slots = config.text("ESPALIER_SLOTS") == "auto"
                     ? slots
                     : static_cast<int>(std::bit_floor(config.bytes("ESPALIER_SLOTS")));
  return layout;
}

machine::Layout layout_on_one_node(int ranks, int ranks_of_node, double ranks_per_core) {
  machine::Layout layout = layout_for(ranks);
  layout.many_pairwise = ranks_per_core > 1;
  if (ranks == ranks_of_node && Config::instance().text("ESPALIER_SLOTS") == "auto")
    layout.slots = slots_of_whole_node(ranks, layout.slot_bytes, layout.slots);
  return layout;
}

Agreement agree(const Bootstrap& bootstrap) {
  // MPI sessions have no world to meet in: the first communicator's ranks found the arena.
  const auto all = gather_when_joined(
      bootstrap, [&] { return exchange_eligibility(bootstrap); },
      [&](const std::vector<Eligibility>& unused) {
        take_offer_back(bootstrap, unused, offered_layout(unused));
      });
  const machine::Layout layout = offered_layout(all);
  Agreement result;
  result.refusal = refusal_of(all);
  const bool one_node = on_one_node(all);
  if (result.refusal.empty()) {
    if (one_node && share_memory(all)) return agree_on_node(bootstrap, all, layout);
    take_offer_back(bootstrap, all, layout);
    if (one_node && !by_messages())
      result.refusal = "a node has no shared memory for Espalier" + local_reason();
    else
      return agree_over_nodes(bootstrap, all);
  } else {
    take_offer_back(bootstrap, all, layout);
  }
  return result;
}

}  // namespace espalier::runtime
