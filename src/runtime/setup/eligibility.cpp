#include "runtime/setup/eligibility.hpp"

#include <algorithm>
#include <cstring>

#include "plan/tuned_rules.hpp"
#include "runtime/failure/liveness.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/setup/agreement.hpp"
#include "topology/cpu_set.hpp"

namespace espalier::runtime {
namespace {

// A program may have many communicators of all ranks of a node: once half the budget is gone, new ones have
// short rings, and no cells.
machine::Layout layout_to_offer(int ranks, NodeState& node) {
  const memory::Arena& arena = *node.arena();
  const bool scarce = arena.used() > arena.budget() / 2;
  return scarce ? layout_for(ranks) : layout_on_one_node(ranks, node.size(), node.ranks_per_core());
}

Eligibility own_eligibility(const Bootstrap& bootstrap) {
  Process& process = Process::instance();
  Eligibility eligibility{};
  eligibility.joining = process.is_joining();  // asked first: what it says afterwards is whole
  NodeState* node = process.node();
  eligibility.agreement = plan::agreement();
  eligibility.process = process.number();
  eligibility.has_transport = process.transport() != nullptr;
  eligibility.declined = !process.declined().empty();
  eligibility.joined = node != nullptr;
  if (!node) return eligibility;
  eligibility.node = node->id();
  eligibility.job = node->job();
  eligibility.shares_memory = node->arena() != nullptr && !by_messages();
  if (eligibility.shares_memory && bootstrap.rank == 0) {
    const machine::Layout layout = layout_to_offer(bootstrap.size, *node);
    eligibility.share = node->arena()->allocate(layout.bytes()).offset;
    eligibility.slots = layout.slots;
    eligibility.many_pairwise = layout.many_pairwise;
    eligibility.ranks_per_core = node->ranks_per_core();
  }
  return eligibility;
}

template <class Predicate>
bool any(const std::vector<Eligibility>& all, Predicate predicate) {
  return std::any_of(all.begin(), all.end(), predicate);
}

}  // namespace

std::vector<Eligibility> exchange_eligibility(const Bootstrap& bootstrap) {
  return exchange(bootstrap, own_eligibility(bootstrap));
}

machine::Layout offered_layout(const std::vector<Eligibility>& all) {
  machine::Layout layout = layout_for(static_cast<int>(all.size()));
  if (all.front().slots > 0) layout.slots = all.front().slots;
  layout.many_pairwise = all.front().many_pairwise != 0;
  return layout;
}

// Judges by the gathered values only, so that all ranks come to the same end.
std::string refusal_of(const std::vector<Eligibility>& all) {
  const Eligibility& first = all.front();
  if (any(all, [](const Eligibility& s) { return s.declined; }))
    return "a rank declines (spawned or switched off)";
  if (any(all, [&](const Eligibility& s) { return s.agreement != first.agreement; }))
    return "the ranks' ESPALIER_ settings differ; give all ranks the same environment";
  return "";
}

bool on_one_node(const std::vector<Eligibility>& all) {
  return !any(all, [&](const Eligibility& s) { return s.node != all.front().node; });
}

bool share_memory(const std::vector<Eligibility>& all) {
  return !any(all, [](const Eligibility& s) { return !s.shares_memory; });
}

bool prepare(const memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank) {
  const bool first = rank == 0;
  const bool backed = layout.compact ||  // backed as a whole by the caller
                      ((!first || arena.reserve(share, 0, layout.common_bytes())) &&
                       arena.reserve(share, layout.control_block(rank), layout.control_block_bytes()) &&
                       arena.reserve(share, layout.ring(rank), layout.ring_and_page_bytes()) &&
                       (layout.pairwise_bytes() == 0 ||
                        arena.reserve(share, layout.pairwise_area(rank), layout.pairwise_area_bytes())));
  if (!backed) return false;
  std::byte* base = arena.at(share.offset);
  if (first) std::memset(base, 0, layout.common_bytes());
  std::memset(base + layout.control_block(rank), 0, layout.control_block_bytes());
  if (!layout.compact)
    store_affinity(base + layout.affinity_record(rank), machine::Layout::affinity_record_bytes,
                   topology::current_affinity());
  static_assert(sizeof(ProcessMark) <= machine::Layout::process_bytes);
  const ProcessMark mark = Process::instance().node()->mark();
  std::memcpy(base + layout.process(rank), &mark, sizeof mark);
  return true;
}

NodeShare facts_of_node(double ranks_per_core, const machine::Layout& layout) {
  const NodeState* node = Process::instance().node();
  NodeShare facts;
  facts.layout = layout;
  facts.ranks_per_core = ranks_per_core;
  facts.single_copy = node && node->single_copy();
  facts.shared_heaps = node && node->shared_heaps();
  facts.prompt_yields = !node || node->prompt_yields();
  return facts;
}

}  // namespace espalier::runtime
