#include "runtime/communicator.hpp"

#include <cstring>
#include <optional>

#include "base/config.hpp"
#include "collective/allreduce.hpp"
#include "collective/allreduce_central.hpp"
#include "collective/allreduce_exchange.hpp"
#include "collective/allreduce_sliced.hpp"
#include "collective/barrier.hpp"
#include "collective/bcast.hpp"
#include "collective/bcast_direct.hpp"
#include "collective/reduce.hpp"
#include "collective/reduce_whole.hpp"
#include "machine/host_machine.hpp"
#include "plan/selector.hpp"
#include "runtime/agreement.hpp"
#include "runtime/node.hpp"
#include "runtime/places.hpp"
#include "runtime/process.hpp"
#include "runtime/recorder.hpp"
#include "runtime/statistics.hpp"

namespace espalier::runtime {
namespace {

const char in_place_mark = 0;

machine::WaitMode wait_mode() {
  const std::string& text = Config::instance().text("ESPALIER_WAIT");
  if (text == "spin") return machine::WaitMode::spin;
  if (text == "yield") return machine::WaitMode::yield;
  return text == "sleep" ? machine::WaitMode::sleep : machine::WaitMode::automatic;
}

plan::Query shape_of(const Agreement& agreement) {
  plan::Query shape;
  shape.ranks = shape.ranks_per_node = agreement.layout.ranks;
  shape.ranks_per_core = agreement.ranks_per_core;
  shape.single_copy = agreement.single_copy;
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

/// Everything that exists only where memory is shared.
struct Communicator::State {
  State(const NodeState& node, const Agreement& agreement, int rank)
      : arena(*node.arena()),
        share(agreement.share),
        layout(agreement.layout),
        selector(plan::Table::instance(), shape_of(agreement)),
        places(rank, layout.ranks, groups_of(node, arena.at(share.offset), layout), selector),
        machine(arena.at(share.offset), layout, rank,
                machine::wait_policy(wait_mode(), agreement.ranks_per_core),
                {Process::instance().host_progress().poke, Process::instance().host_progress().context}) {}

  // The share goes back when the last rank has left. acq_rel: all ranks' last accesses come before its reuse.
  ~State() {
    auto* life = reinterpret_cast<memory::FlagLine*>(arena.at(share.offset) + layout.life());
    if (life->step.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<memory::Step>(layout.ranks))
      arena.free(share);
  }

  memory::Arena& arena;
  memory::Share share;
  machine::Layout layout;
  plan::Selector selector;
  Places places;
  machine::HostMachine machine;
};

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
  if (agreement.share) {
    communicator->state_ = std::make_unique<State>(*Process::instance().node(), agreement, bootstrap.rank);
    communicator->active_ = true;
  }
  return communicator;
}

bool Communicator::barrier() {
  if (!state_) return active_;
  const plan::Plan& plan = state_->selector(Collective::barrier, 0);
  if (plan.algorithm == plan::Algorithm::host) return false;
  const statistics::Recorder recorder({Collective::barrier, 0, size_, plan.algorithm},
                                      state_->machine.waiter());
  if (plan.algorithm == plan::Algorithm::exchange) {
    collective::barrier_exchange(state_->machine);
  } else if (plan.algorithm == plan::Algorithm::central) {
    collective::barrier_central(state_->machine);
  } else {
    const Places::Pair& pair = state_->places.of(plan, 0);
    collective::barrier_tree(state_->machine, pair.gather, pair.release, plan);
  }
  return true;
}

bool Communicator::bcast(void* buffer, std::size_t bytes, int root) {
  if (!state_) return active_;
  const plan::Plan& plan = state_->selector(Collective::bcast, bytes);
  if (plan.algorithm == plan::Algorithm::host) return false;
  const statistics::Recorder recorder({Collective::bcast, bytes, size_, plan.algorithm},
                                      state_->machine.waiter());
  if (plan.algorithm == plan::Algorithm::direct)
    collective::bcast_direct(state_->machine, state_->places.of(plan, root).release, buffer, bytes, plan);
  else
    collective::bcast_tree(state_->machine, state_->places.of(plan, root).release, buffer, bytes, plan);
  return true;
}

bool Communicator::reduce(const void* send, void* receive, std::size_t count,
                          const reduce::Operation& operation, int root) {
  const std::size_t bytes = count * operation.extent;
  if (!state_) {
    if (active_ && send != in_place && bytes > 0) operation.kernel(receive, &send, 1, count);
    return active_;
  }
  const plan::Plan& plan = state_->selector(Collective::reduce, bytes);
  if (plan.algorithm == plan::Algorithm::host) return false;
  const statistics::Recorder recorder({Collective::reduce, bytes, size_, plan.algorithm},
                                      state_->machine.waiter());
  const collective::Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
  collective::reduce_tree(state_->machine, state_->places.of(plan, root).gather, reduction, plan);
  return true;
}

bool Communicator::allreduce(const void* send, void* receive, std::size_t count,
                             const reduce::Operation& operation) {
  const std::size_t bytes = count * operation.extent;
  if (!state_) {
    if (active_ && send != in_place && bytes > 0) operation.kernel(receive, &send, 1, count);
    return active_;
  }
  const plan::Plan& plan = state_->selector(Collective::allreduce, bytes);
  if (plan.algorithm == plan::Algorithm::host) return false;
  const statistics::Recorder recorder({Collective::allreduce, bytes, size_, plan.algorithm},
                                      state_->machine.waiter());
  const collective::Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
  machine::HostMachine& m = state_->machine;
  switch (plan.algorithm) {
    case plan::Algorithm::exchange:
      collective::allreduce_exchange(m, reduction, plan);
      break;
    case plan::Algorithm::central:
      collective::allreduce_central(m, reduction, plan);
      break;
    case plan::Algorithm::sliced:
      collective::allreduce_sliced(m, reduction, plan);
      break;
    default: {
      const Places::Pair& pair = state_->places.of(plan, 0);
      collective::allreduce_tree(m, pair.gather, pair.release, reduction, plan);
    }
  }
  return true;
}

bool Communicator::reduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
                          int root) {
  if (!state_) {
    if (active_ && send != in_place && bytes > 0) std::memcpy(receive, send, bytes);
    return active_;
  }
  const plan::Plan& plan = state_->selector(Collective::reduce, bytes);
  if (plan.algorithm == plan::Algorithm::host) return false;
  const statistics::Recorder recorder({Collective::reduce, bytes, size_, plan::Algorithm::tree},
                                      state_->machine.waiter());
  collective::reduce_whole(state_->machine, state_->places.contiguous(root),
                           send == in_place ? receive : send, receive, bytes,
                           {operation.combine, operation.context}, plan);
  return true;
}

bool Communicator::allreduce(const void* send, void* receive, std::size_t bytes,
                             const UserOperation& operation) {
  if (!state_) {
    if (active_ && send != in_place && bytes > 0) std::memcpy(receive, send, bytes);
    return active_;
  }
  const plan::Plan& plan = state_->selector(Collective::allreduce, bytes);
  if (plan.algorithm == plan::Algorithm::host) return false;
  const statistics::Recorder recorder({Collective::allreduce, bytes, size_, plan::Algorithm::tree},
                                      state_->machine.waiter());
  constexpr int root = 0;
  machine::HostMachine& m = state_->machine;
  collective::reduce_whole(m, state_->places.contiguous(root), send == in_place ? receive : send, receive,
                           bytes, {operation.combine, operation.context}, plan);
  collective::bcast_tree(m, state_->places.of(plan, root).release, receive, bytes, plan);
  return true;
}

}  // namespace espalier::runtime
