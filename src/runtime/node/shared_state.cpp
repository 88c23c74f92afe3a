// How SharedState is made from an agreement, and what becomes of its share at the end.
#include "runtime/node/shared_state.hpp"

#include <utility>
#include <vector>

#include "base/config.hpp"
#include "runtime/communicator/share_release.hpp"

namespace espalier::runtime {
namespace {

machine::WaitMode wait_mode() {
  const std::string& text = Config::instance().text("ESPALIER_WAIT");
  if (text == "spin") return machine::WaitMode::spin;
  if (text == "yield") return machine::WaitMode::yield;
  return text == "sleep" ? machine::WaitMode::sleep : machine::WaitMode::automatic;
}

plan::Query shape_of(const NodeShare& agreement) {
  plan::Query shape;
  shape.ranks = shape.ranks_per_node = agreement.layout.ranks;
  shape.ranks_per_core = agreement.ranks_per_core;
  shape.single_copy = agreement.single_copy;
  shape.shared_heaps = agreement.shared_heaps;
  shape.prompt_yields = agreement.prompt_yields;
  return shape;
}

topology::Group groups_of(const NodeState& node, const std::byte* share, const machine::Layout& layout) {
  if (layout.ranks <= 2) return topology::flat_group(layout.ranks);
  std::vector<topology::CpuSet> masks;
  masks.reserve(static_cast<std::size_t>(layout.ranks));
  for (int r = 0; r < layout.ranks; ++r)
    masks.push_back(load_affinity(share + layout.affinity_record(r), machine::Layout::affinity_record_bytes));
  return topology::group_ranks(node.machine(), masks);
}

}  // namespace

SharedState::SharedState(const NodeState& node, const NodeShare& agreement, int rank, std::vector<int> names,
                         machine::ProgressHook hook)
    : arena(*node.arena()),
      share(agreement.share),
      layout(agreement.layout),
      selector(plan::Table::instance(), shape_of(agreement)),
      positions(rank, layout.ranks, groups_of(node, arena.at(share.offset), layout), selector.count()),
      drive(hook),
      mismatch_detection(arena.at(share.offset), layout, rank, std::move(names), node.sees_processes(),
                         work_in_waits()),
      machine(arena.at(share.offset), layout, rank,
              machine::wait_policy(wait_mode(), agreement.ranks_per_core), mismatch_detection.hook()) {
  machine.on_mistake(mismatch_detection.mistake());
}

machine::ProgressHook SharedState::work_in_waits() {
  return {[](void* self) {
            SharedState& state = *static_cast<SharedState*>(self);
            state.machine.serve_pulls();
            if (state.drive.function) state.drive.function(state.drive.context);
          },
          this, drive.progress};
}

void SharedState::map_own_slots() {
  map_slots(arena, share, layout, machine.rank());
  slots_unmapped = false;
}

SharedState::~SharedState() {
  mismatch_detection.leave();
  if (!is_last_to_leave(arena, share, layout)) return;
  for (const NodeArea* each : {&area, &ring})
    if (each->share) arena.free(each->share);
  arena.free(share);
}

}  // namespace espalier::runtime
