// Memory that the ranks of each node have in common, beyond their slots: where the whole of an allgather is
// put together. Comes from the arena when it is first needed, grows, and goes back with the communicator.
#include <bit>

#include "runtime/multinode/serve.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {
namespace {

// For one number of each node, whatever the rules say.
const plan::NetworkPlan& agreement_plan() {
  static const plan::NetworkPlan& plan = *[] {  // never destroyed, as Config
    auto* doubling = new plan::NetworkPlan;
    doubling->algorithm = plan::Algorithm::recursive_doubling;
    return doubling;
  }();
  return plan;
}

}  // namespace

bool MultiNodeCommunicator::agreed(bool mine) {
  const std::int32_t one = mine ? 1 : 0;
  std::int32_t all = 0;
  reduce_everywhere({&one, &all, sizeof one, *reduce::find(reduce::Op::min, reduce::Type::int32)},
                    agreement_plan());
  return all != 0;
}

// A node that got its area keeps it until the next try, though another did not: area_bytes_ says what all
// have.
bool MultiNodeCommunicator::have_area(std::size_t bytes) {
  if (!nodes_.all_share_memory || bytes >= no_area_of_) return false;
  if (bytes <= area_bytes_) return true;
  const std::size_t size = std::bit_ceil(std::max(bytes, memory::Arena::area_granule));
  bool grown = true;  // a rank alone on its node needs none
  if (state_)
    on_stage([&](auto& stage) {
      grown = state_->area.grow(state_->machine, state_->arena, size,
                                [&](void* data, std::size_t some) { stage.bcast(0, data, some); });
    });
  const bool all = agreed(grown);
  area_bytes_ = all ? size : 0;  // a node that could not grow has lost the area that it had
  if (!all) no_area_of_ = bytes;
  return all;
}

}  // namespace espalier::runtime
