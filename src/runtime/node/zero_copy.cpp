// Allgatherv whose result is put together once on a node, and shared with its ranks.
#include <bit>
#include <numeric>

#include "collective/multinode/stage/node_ranks.hpp"
#include "collective/multinode/stage/shared_stage.hpp"
#include "collective/node/all_to_all/allgather.hpp"
#include "runtime/node/node_communicator.hpp"
#include "runtime/node/node_plans.hpp"

namespace espalier::runtime {
namespace {

// Whether the node's area has `bytes`; makes it grow where it has less. The same on all ranks: only the
// leader asks the arena, and all ranks made the area grow in the same calls before.
bool have_area(SharedState& state, std::size_t bytes) {
  if (bytes <= state.area.area.bytes) return true;
  if (bytes >= state.no_area_of) return false;
  collective::multinode::SharedStage stage(state.machine, NodePlans{&state});
  const std::size_t size = std::bit_ceil(std::max(bytes, memory::Arena::area_granule));
  const bool grown = state.area.grow(state.machine, state.arena, size,
                                     [&](void* data, std::size_t count) { stage.bcast(0, data, count); });
  if (!grown) state.no_area_of = bytes;
  return grown;
}

// Waits for all ranks of the node: before the first write, since ranks may still read the result of the
// previous call; and after the last one, so that all blocks are there.
void meet(SharedState& state, const plan::Plan& plan) {
  collective::multinode::NodeRanks(state.machine, plan).meet();
}

}  // namespace

bool NodeCommunicator::allgatherv_shared(const void* send, std::span<const std::size_t> bytes,
                                         SharedResult& shared_result) {
  shared_result.offsets.resize(bytes.size());
  std::exclusive_scan(bytes.begin(), bytes.end(), shared_result.offsets.begin(), std::size_t{0});
  const std::size_t total = shared_result.offsets.back() + bytes.back();
  const auto use_own_buffer = [&] {
    kept_result_.resize(total);
    shared_result.whole = kept_result_.data();
  };
  const std::size_t mean = collective::mean_block(total, bytes.size());
  return state_.serve(Collective::allgatherv, mean, [&](const plan::Plan& plan) {
    if (std::exchange(state_.is_exposed, false)) meet(state_, plan);
    if (total == 0) return;
    if (!have_area(state_, total)) {
      use_own_buffer();
      return collective::by_plan::allgather(state_.machine, state_.positions, send, kept_result_.data(),
                                            Blocks{bytes, shared_result.offsets}, plan);
    }
    std::byte* whole = state_.area.area.memory;
    const auto me = static_cast<std::size_t>(rank());
    if (bytes[me] > 0) state_.machine.copy(whole + shared_result.offsets[me], send, bytes[me]);
    meet(state_, plan);
    shared_result.whole = whole;
    state_.is_exposed = true;
  });
}

}  // namespace espalier::runtime
