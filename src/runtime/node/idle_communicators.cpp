#include "runtime/node/idle_communicators.hpp"

#include <algorithm>

#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

IdleCommunicators& IdleCommunicators::instance() {
  static IdleCommunicators& idle = *new IdleCommunicators;  // never destroyed, as Process
  return idle;
}

// First it is kept and then it leaves: another thread may come to the next communicator of these ranks as
// soon as all have left.
void IdleCommunicators::release(std::unique_ptr<NodeCommunicator> communicator) {
  communicator->forget_nonblocking();
  SharedState& state = communicator->state();
  const std::uint64_t generation = state.registered()->generation;
  {
    const std::lock_guard lock(mutex_);
    by_generation_[generation] = std::move(communicator);
    if (by_generation_.size() > sweep_above_) sweep();
  }
  if (state.leave(true)) return;
  const std::lock_guard lock(mutex_);
  by_generation_.erase(generation);
}

std::unique_ptr<NodeCommunicator> IdleCommunicators::take(const NodeShare& share) {
  const std::lock_guard lock(mutex_);
  const auto found = by_generation_.find(share.registered->generation);
  if (found == by_generation_.end()) return nullptr;
  std::unique_ptr<NodeCommunicator> communicator = std::move(found->second);
  by_generation_.erase(found);
  return communicator;
}

void IdleCommunicators::sweep() {
  memory::ShareDirectory* directory = Process::instance().node()->directory();
  std::erase_if(by_generation_, [&](const auto& each) {
    const SharedState& state = each.second->state();
    const Registered& registered = *state.registered();
    return !directory->is_kept(state.share.offset, registered.group, registered.generation);
  });
  sweep_above_ = std::max<std::size_t>(512, 2 * by_generation_.size());
}

void IdleCommunicators::clear() {
  const std::lock_guard lock(mutex_);
  by_generation_.clear();
}

}  // namespace espalier::runtime
