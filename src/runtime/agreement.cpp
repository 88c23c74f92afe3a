#include "runtime/agreement.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/config.hpp"
#include "runtime/node.hpp"
#include "runtime/process.hpp"
#include "topology/cpu_set.hpp"

namespace espalier::runtime {
namespace {

// Plain bytes: it crosses the bootstrap.
struct Standing {
  std::uint64_t arena;      // 0: none
  std::uint64_t agreement;  // hash of the configuration that must be equal
  std::uint64_t share;      // rank 0's offer, 0: the budget is spent
  double ranks_per_core;    // rank 0's reading, valid for all
  std::int32_t declined;
  std::int32_t joined;
};

Standing own_standing(const Bootstrap& bootstrap, const machine::Layout& layout) {
  Process& process = Process::instance();
  NodeState* node = process.node();
  Standing standing{};
  standing.agreement = Config::instance().agreement();
  standing.declined = !process.declined().empty();
  standing.joined = node != nullptr;
  if (!node || !node->arena()) return standing;
  standing.arena = node->id();
  if (bootstrap.rank == 0) {
    standing.share = node->arena()->allocate(layout.bytes()).offset;
    standing.ranks_per_core = node->ranks_per_core();
  }
  return standing;
}

std::vector<Standing> exchange_standing(const Bootstrap& bootstrap, const machine::Layout& layout) {
  const Standing mine = own_standing(bootstrap, layout);
  std::vector<Standing> all(static_cast<std::size_t>(bootstrap.size));
  bootstrap.allgather(&mine, all.data(), sizeof mine);
  return all;
}

// The judgement is the same on all ranks; only where the arena is missing does a rank know more.
std::string local_reason() {
  const NodeState* node = Process::instance().node();
  return node && !node->refusal().empty() ? ": " + node->refusal() : "";
}

// Judges by the gathered values only, so that all ranks come to the same end.
std::string refusal_of(const std::vector<Standing>& all, std::size_t share_bytes) {
  const auto any = [&](auto predicate) { return std::any_of(all.begin(), all.end(), predicate); };
  const Standing& first = all.front();
  if (any([](const Standing& s) { return s.declined; })) return "a rank declines (spawned or switched off)";
  if (any([&](const Standing& s) { return s.agreement != first.agreement; }))
    return "the ranks' ESPALIER_ settings differ; give all ranks the same environment";
  if (any([](const Standing& s) { return s.arena == 0; }))
    return "a node has no shared memory for Espalier" + local_reason();
  if (any([&](const Standing& s) { return s.arena != first.arena; })) return "spans nodes or jobs";
  if (first.share == 0)
    return fmt::format("the shared-memory budget is spent ({} more wanted; see ESPALIER_SHM)",
                       print_bytes(share_bytes));
  return "";
}

/// Backs this rank's part with memory from its own NUMA domain, clears its lines and leaves its affinity
/// mask and process id.
bool prepare(const memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank) {
  const bool first = rank == 0;
  const bool backed = (!first || arena.reserve(share, 0, layout.common_bytes())) &&
                      arena.reserve(share, layout.station(rank), layout.station_bytes()) &&
                      arena.reserve(share, layout.ring(rank), layout.ring_bytes());
  if (!backed) return false;
  std::byte* base = arena.at(share.offset);
  if (first) std::memset(base, 0, layout.common_bytes());
  std::memset(base + layout.station(rank), 0, layout.station_bytes());
  store_affinity(base + layout.note(rank), machine::Layout::note_bytes, topology::current_affinity());
  const pid_t process = getpid();
  std::memcpy(base + layout.process_id(rank), &process, sizeof process);
  return true;
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

Agreement agree(const Bootstrap& bootstrap) {
  Agreement result;
  result.layout = layout_for(bootstrap.size);
  const std::size_t bytes = result.layout.bytes();
  auto all = exchange_standing(bootstrap, result.layout);
  // MPI sessions have no world to meet in: the first communicator's ranks found the arena.
  if (std::none_of(all.begin(), all.end(), [](const Standing& s) { return s.joined || s.declined; })) {
    Process::instance().join(bootstrap);
    all = exchange_standing(bootstrap, result.layout);
  }
  const NodeState* node = Process::instance().node();
  memory::Arena* arena = node ? node->arena() : nullptr;
  const memory::Share share = {all.front().share, bytes};
  result.ranks_per_core = all.front().ranks_per_core;
  result.single_copy = node && node->single_copy();
  result.prompt_yields = !node || node->prompt_yields();
  result.refusal = refusal_of(all, bytes);
  if (result.refusal.empty()) {
    const std::int32_t prepared = prepare(*arena, share, result.layout, bootstrap.rank);
    std::vector<std::int32_t> everybody(static_cast<std::size_t>(bootstrap.size));
    bootstrap.allgather(&prepared, everybody.data(), sizeof prepared);
    if (std::count(everybody.begin(), everybody.end(), 0) == 0) {
      result.share = share;
      return result;
    }
    result.refusal = fmt::format("the machine has no {} of shared memory left", print_bytes(bytes));
  }
  if (bootstrap.rank == 0 && arena) arena->free(share);
  return result;
}

}  // namespace espalier::runtime
