// How SharedState is made from an agreement, and what becomes of its share at the end.
#include "runtime/node/shared_state.hpp"

#include <utility>
#include <vector>

#include "base/config.hpp"
#include "memory/preferred_node.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/communicator/share_release.hpp"

namespace espalier::runtime {
namespace {

machine::WaitMode wait_mode() {
  const std::string& text = Config::instance().text("ESPALIER_WAIT");
  if (text == "spin") return machine::WaitMode::spin;
  if (text == "yield") return machine::WaitMode::yield;
  return text == "sleep" ? machine::WaitMode::sleep : machine::WaitMode::automatic;
}

topology::Group groups_of(const NodeState& node, const std::byte* share, const machine::Layout& layout) {
  if (layout.ranks <= 2) return topology::flat_group(layout.ranks);
  std::vector<topology::CpuSet> masks;
  masks.reserve(static_cast<std::size_t>(layout.ranks));
  for (int r = 0; r < layout.ranks; ++r)
    masks.push_back(load_affinity(share + layout.affinity_record(r), machine::Layout::affinity_record_bytes));
  return topology::group_ranks(node.machine(), masks);
}

// A share that all have mapped may have slots that this process has not mapped, or none yet.
const SlotLimits* slot_limits(const NodeShare& agreement, const GroupPlans& plans) {
  return agreement.registered || should_map_slots(agreement.layout) ? &plans.slots_from : &GroupPlans::never;
}

}  // namespace

SharedState::SharedState(const NodeState& node, const NodeShare& agreement, int rank, std::vector<int> names,
                         machine::ProgressHook hook, std::shared_ptr<const GroupPlans> known_plans)
    : arena(*node.arena()),
      share(agreement.share),
      layout(agreement.layout),
      plans(known_plans ? std::move(known_plans)
                        : std::make_shared<const GroupPlans>(
                              agreement, rank, groups_of(node, arena.at(share.offset), layout))),
      selector(plans->selector),
      positions(plans->positions),
      drive(hook),
      mismatch_detection(arena.at(share.offset), layout, rank, std::move(names), node.sees_processes(),
                         work_in_waits()),
      ranks_per_core(agreement.ranks_per_core),
      machine(arena.at(share.offset), layout, rank, machine::wait_policy(wait_mode(), ranks_per_core),
              mismatch_detection.hook()),
      slots_from(slot_limits(agreement, *plans)),
      arrivals(arena.at(share.offset), layout, rank),
      registered_(agreement.registered),
      directory_(node.directory()) {
  machine.on_mistake(mismatch_detection.mistake());
}

void SharedState::sleep_in_waits(bool on) {
  const machine::WaitPolicy usual = machine::wait_policy(wait_mode(), ranks_per_core);
  machine.wait_by(on ? machine::in_background(usual) : usual);
}

machine::ProgressHook SharedState::work_in_waits() {
  return {[](void* self) {
            SharedState& state = *static_cast<SharedState*>(self);
            state.machine.serve_pulls();
            if (state.drive.function) state.drive.function(state.drive.context);
          },
          this, drive.progress};
}

bool SharedState::take_slots() {
  if (registered_ && layout.slots_from == machine::Layout::no_slots_yet && !add_registered_slots()) {
    lacks_slots_ = true;
    return false;
  }
  if (should_map_slots(layout)) map_slots(arena, share, layout, machine.rank());
  slots_from = &GroupPlans::never;
  return true;
}

bool SharedState::add_registered_slots() {
  const std::uint64_t slots = directory_->obtain_slots(
      share.offset, layout.slots_bytes(), [&](memory::Share fresh) { return back_slots(fresh); });
  if (slots == 0) return false;
  layout.slots_from = slots - share.offset;
  machine.add_slots(layout.slots_from);
  return true;
}

// For all ranks, each rank's in its NUMA domain: what one rank could not back it could not tell the others any
// more.
bool SharedState::back_slots(memory::Share fresh) const {
  machine::Layout there = layout;
  there.slots_from = fresh.offset - share.offset;
  const auto back = [&](std::size_t begin, std::size_t bytes) {
    return bytes == 0 || arena.reserve(fresh, share.offset + begin - fresh.offset, bytes);
  };
  for (int rank = 0; rank < layout.ranks; ++rank) {
    const memory::PreferredNode node(plans->numa_nodes[static_cast<std::size_t>(rank)]);
    if (!back(there.ring(rank), there.ring_and_page_bytes()) ||
        !back(there.pairwise_area(rank), there.pairwise_area_bytes()))
      return false;
  }
  return true;
}

void SharedState::free_areas(const std::array<NodeArea, 2>& areas) const {
  for (const NodeArea& each : areas)
    if (each.share) arena.free(each.share);
}

// The next communicator of these ranks finds no rank gone.
void SharedState::clear_departures() {
  forget_nonblocking_share(arena, share, layout);
  for (int rank = 0; rank < layout.ranks; ++rank)
    reinterpret_cast<CallRecords*>(arena.at(share.offset) + layout.calls(rank))->come_back();
}

bool SharedState::leave(bool may_go_on) {
  if (has_left_) return false;
  has_left_ = true;
  mismatch_detection.leave();
  const std::array areas = {std::exchange(area, {}), std::exchange(ring, {})};
  if (!registered_) {
    if (is_last_to_leave(arena, share, layout)) {
      free_areas(areas);
      arena.free(share);
    }
    return false;
  }
  is_exposed = false;
  no_area_of = std::numeric_limits<std::size_t>::max();
  const bool spoiled = !may_go_on || mismatch_detection.has_failed();
  memory::tell_of_leaving(arena.at(0));
  // From here on another thread may have this, for the next communicator of these ranks.
  directory_->leave(share.offset, spoiled, [&] {
    free_areas(areas);
    clear_departures();
  });
  return !spoiled;
}

SharedState::~SharedState() { leave(false); }

}  // namespace espalier::runtime
