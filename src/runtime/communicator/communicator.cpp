// The life of a communicator; its collectives are in communicator_*.cpp.
#include "runtime/communicator/communicator.hpp"

#include <utility>
#include <vector>

#include "base/config.hpp"
#include "runtime/communicator/node_state.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/communicator/share_release.hpp"
#include "runtime/multinode/multinode.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime {
namespace {

const char in_place_mark = 0;

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
  for (int r = 0; r < layout.ranks; ++r)
    masks.push_back(load_affinity(share + layout.note(r), machine::Layout::note_bytes));
  return topology::group_ranks(node.machine(), masks);
}

}  // namespace

const void* const Communicator::in_place = &in_place_mark;

Communicator::State::State(const NodeState& node, const NodeShare& agreement, int rank,
                           std::vector<int> names, machine::Poke poke)
    : arena(*node.arena()),
      share(agreement.share),
      layout(agreement.layout),
      selector(plan::Table::instance(), shape_of(agreement)),
      places(rank, layout.ranks, groups_of(node, arena.at(share.offset), layout), selector.count()),
      drive(poke),
      roll_call(arena.at(share.offset), layout, rank, std::move(names), node.sees_processes(),
                work_in_waits()),
      machine(arena.at(share.offset), layout, rank,
              machine::wait_policy(wait_mode(), agreement.ranks_per_core), roll_call.poke()) {
  machine.on_mistake(roll_call.mistake());
}

machine::Poke Communicator::State::work_in_waits() {
  return {[](void* self) {
            State& state = *static_cast<State*>(self);
            state.machine.serve_pulls();
            if (state.drive.function) state.drive.function(state.drive.context);
          },
          this, drive.progress};
}

void Communicator::State::map_own_slots() {
  map_slots(arena, share, layout, machine.rank());
  slots_unmapped = false;
}

Communicator::State::~State() {
  roll_call.leave();
  if (!is_last_to_leave(arena, share, layout)) return;
  for (const NodeArea* each : {&area, &ring})
    if (each->share) arena.free(each->share);
  arena.free(share);
}

Communicator::Communicator() = default;
Communicator::~Communicator() = default;

std::unique_ptr<Communicator> Communicator::create(const Bootstrap& bootstrap) {
  std::unique_ptr<Communicator> communicator(new Communicator);
  communicator->rank_ = bootstrap.rank;
  communicator->size_ = bootstrap.size;
  if (bootstrap.size == 1) {  // alone: nothing to share, nothing to wait for
    communicator->active_ = true;
    return communicator;
  }
  const Agreement agreement = agree(bootstrap);
  communicator->refusal_ = agreement.refusal;
  communicator->active_ = agreement.refusal.empty();
  if (!communicator->active_) return communicator;
  if (agreement.nodes.placement.nodes() > 0)
    communicator->spanning_ = std::make_unique<Spanning>(agreement, bootstrap.rank);
  else
    communicator->state_ =
        std::make_unique<State>(*Process::instance().node(), agreement.node, bootstrap.rank,
                                std::vector<int>(), Process::instance().poke_in_waits());
  return communicator;
}

std::string Communicator::why_host() const {
  if (!active_) return refusal_;
  return "its rule says host";
}

void Communicator::count_host(Collective collective, std::size_t bytes, const std::string& why) {
  if (!statistics::enabled()) return;
  if (!host_calls_) host_calls_ = std::make_unique<statistics::Counters>(size_);
  if (statistics::Row* row = host_calls_->row(
          {collective, bytes, plan::Algorithm::host, statistics::Carrier::host, &why}))
    row->calls.add(1);
}

}  // namespace espalier::runtime
