// Memory that the ranks of each node have in common, beyond their slots: where the whole of an allgather is
// put together. Comes from the arena when it is first needed, grows, and goes back with the communicator.
#include <bit>

#include "runtime/node.hpp"
#include "runtime/process.hpp"
#include "runtime/spanning_serve.hpp"

namespace espalier::runtime {
namespace {

// For one number of each node, whatever the rules say.
const plan::NetworkPlan& agreement_plan() {
  static const plan::NetworkPlan plan = [] {
    plan::NetworkPlan doubling;
    doubling.algorithm = plan::Algorithm::recursive_doubling;
    return doubling;
  }();
  return plan;
}

}  // namespace

bool Spanning::have_area(std::size_t bytes) {
  if (!nodes_.all_share_memory || bytes >= no_area_of_) return false;
  if (bytes <= area_bytes_) return true;
  const std::size_t size = std::bit_ceil(std::max(bytes, memory::Arena::unit));
  const std::int32_t mine = grow_area(size) ? 1 : 0;
  std::int32_t all = 0;
  reduce_everywhere({&mine, &all, sizeof mine, *reduce::find(reduce::Op::min, reduce::Type::int32)},
                    agreement_plan());
  area_bytes_ = all != 0 ? size : 0;  // a node that could not grow has lost the area that it had
  if (all == 0) no_area_of_ = bytes;
  return all != 0;
}

// The node's leader asks the arena and tells the others. The former area is free once all have finished with
// it. A node that got its area keeps it until the next try, though another did not: area_bytes_ says what all
// have.
bool Spanning::grow_area(std::size_t bytes) {
  if (!state_) return true;  // a rank alone on its node needs none
  constexpr int leader = 0;
  std::uint64_t offset = 0;
  if (local_rank() == leader) {
    for (const int peer : state_->machine.everybody_else())
      state_->machine.await_finish(peer, state_->area.last);
    if (state_->area_share) state_->arena.free(state_->area_share);
    const memory::Share share = state_->arena.allocate(bytes);
    if (share && state_->arena.reserve(share, 0, bytes))
      offset = share.offset;
    else if (share)
      state_->arena.free(share);
  }
  on_stage([&](auto& stage) { stage.bcast(leader, &offset, sizeof offset); });
  state_->area_share = offset == 0 ? memory::Share{} : memory::Share{offset, bytes};
  state_->area.memory = offset == 0 ? nullptr : state_->arena.at(offset);
  state_->area.bytes = offset == 0 ? 0 : bytes;
  return offset != 0;
}

}  // namespace espalier::runtime
