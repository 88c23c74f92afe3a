#include "runtime/agreement.hpp"

#include <algorithm>
#include <bit>

#include "base/config.hpp"
#include "base/format.hpp"
#include "runtime/node.hpp"
#include "runtime/nodes_agreement.hpp"
#include "runtime/process.hpp"
#include "runtime/standing.hpp"

namespace espalier::runtime {
namespace {

// The judgement is the same on all ranks; only where the arena is missing does a rank know more.
std::string local_reason() {
  const NodeState* node = Process::instance().node();
  return node && !node->refusal().empty() ? ": " + node->refusal() : "";
}

Agreement agree_on_node(const Bootstrap& bootstrap, const std::vector<Standing>& all,
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
  const auto prepared =
      exchange(bootstrap, static_cast<std::int32_t>(prepare(arena, share, layout, bootstrap.rank)));
  if (std::count(prepared.begin(), prepared.end(), 0) == 0) {
    result.node.share = share;
    return result;
  }
  result.refusal = formatted("the machine has no {} of shared memory left", print_bytes(bytes));
  if (bootstrap.rank == 0) arena.free(share);
  return result;
}

void take_offer_back(const Bootstrap& bootstrap, const std::vector<Standing>& all,
                     const machine::Layout& layout) {
  const std::uint64_t share = all.front().share;
  if (bootstrap.rank == 0 && share != 0) Process::instance().node()->arena()->free({share, layout.bytes()});
}

}  // namespace

machine::Layout layout_for(int ranks) {
  const Config& config = Config::instance();
  machine::Layout layout;
  layout.ranks = ranks;
  layout.slots = static_cast<int>(std::bit_floor(config.bytes("ESPALIER_SLOTS")));
  layout.slot_bytes = machine::Layout::round_up(config.bytes("ESPALIER_SLOT"), machine::Layout::page);
  return layout;
}

bool by_messages() { return Config::instance().text("ESPALIER_NODE_STAGE") == "p2p"; }

Agreement agree(const Bootstrap& bootstrap) {
  const machine::Layout layout = layout_for(bootstrap.size);
  auto all = exchange_standing(bootstrap, layout);
  // MPI sessions have no world to meet in: the first communicator's ranks found the arena.
  if (std::none_of(all.begin(), all.end(), [](const Standing& s) { return s.joined || s.declined; })) {
    Process::instance().join(bootstrap);
    all = exchange_standing(bootstrap, layout);
  }
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
