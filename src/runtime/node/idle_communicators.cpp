#include "runtime/node/idle_communicators.hpp"

#include <algorithm>

#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

IdleCommunicators& IdleCommunicators::instance() {
  static IdleCommunicators& idle = *new IdleCommunicators;  // never destroyed, as Process
  return idle;
}

void IdleCommunicators::keep(std::unique_ptr<NodeCommunicator> communicator) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t generation = communicator->state().registered()->generation;
  by_generation_[generation] = std::move(communicator);
  if (by_generation_.size() > sweep_above_) sweep();
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
    return !directory->is_kept(state.share.offset, registered.communicator, registered.group,
                               registered.generation);
  });
  sweep_above_ = std::max<std::size_t>(512, 2 * by_generation_.size());
}

void IdleCommunicators::clear() {
  const std::lock_guard lock(mutex_);
  by_generation_.clear();
}

}  // namespace espalier::runtime
