// The window of a communicator's notified rings and disseminations: made when a call first wants it, over memory of the node's
// arena, and made anew when a call needs more.
#include <bit>

#include "base/error.hpp"
#include "base/format.hpp"
#include "runtime/multinode/serve.hpp"
#include "runtime/process/process.hpp"
#include "runtime/window/window_cache.hpp"

namespace espalier::runtime {

using collective::multinode::WindowHalf;

namespace {

// Enough for some thousand blocks a call; each costs 4 bytes of memory here and 4 for its mark.
int ids_for(int nodes, std::size_t least_blocks) {
  const auto least = static_cast<unsigned>(2 * least_blocks);
  return static_cast<int>(
      std::bit_ceil(std::max(least, 2U * static_cast<unsigned>(WindowHalf::least_ids(nodes)))));
}

}  // namespace

// The same algorithm goes by messages where a window was wanted and cannot be had.
plan::Algorithm MultiNodeCommunicator::or_by_messages(plan::Algorithm wanted, std::size_t at_once) {
  if (!plan::goes_through_window(wanted) || at_once == 0) return wanted;
  if (at_once <= most_through_a_window && have_ring(at_once)) return wanted;
  if (at_once > most_through_a_window)
    no_ring_ = formatted("{} at once are more than goes through a window", print_bytes(at_once));
  return plan::by_messages(wanted);
}

// By values that are equal on all ranks, and by what they have agreed before.
bool MultiNodeCommunicator::have_ring(std::size_t total) {
  no_ring_.clear();
  if (!nodes_.all_share_memory) {
    no_ring_ = "the ranks of a node share no memory";
    return false;
  }
  const int ids = ids_for(nodes_.placement.nodes(), blocks_of_any_window);
  const std::size_t needed = WindowHalf::segment_bytes(total, ids);
  if (ring_ && (*ring_)->bytes() >= needed) return true;
  if (needed < no_ring_of_) {
    reclaim();
    leave_ring();
    if (grow_ring(std::bit_ceil(needed), ids)) return true;
    no_ring_of_ = needed;
  }
  no_ring_ = ring_refusal_;
  return false;
}

bool MultiNodeCommunicator::grow_ring(std::size_t bytes, int ids) {
  std::byte* memory = ring_memory(bytes);
  if (!agreed(memory != nullptr)) {
    ring_refusal_ =
        formatted("a node's shared-memory budget has no {} for a window (ESPALIER_SHM)", print_bytes(bytes));
    return false;
  }
  if (local_rank() == 0) WindowHalf::prepare(memory, bytes, ids);
  try {
    ring_ = &WindowCache::instance().add(Window::create(own_bootstrap(), {bytes, ids, memory}));
  } catch (const Error& error) {  // the same on all ranks
    ring_refusal_ = error.what();
  }
  return ring_ != nullptr;
}

// Null where the arena has no more.
std::byte* MultiNodeCommunicator::ring_memory(std::size_t bytes) {
  if (!state_) return alone_.of(bytes);
  on_stage([&](auto& stage) {
    state_->ring.grow(state_->machine, state_->arena, bytes,
                      [&](void* data, std::size_t some) { stage.bcast(0, data, some); });
  });
  return state_->ring.area.memory;
}

// Nothing is aimed at a rank that has left its last call: it has seen all blocks that its node gets.
void MultiNodeCommunicator::leave_ring() {
  if (!ring_) return;
  WindowCache::instance().leave(*std::exchange(ring_, nullptr));
}

}  // namespace espalier::runtime
