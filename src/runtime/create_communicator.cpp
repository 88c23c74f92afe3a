// Which kind of communicator serves a set of ranks.
#include <utility>

#include "runtime/across/sent_letters.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/refused_communicator.hpp"
#include "runtime/communicator/self_communicator.hpp"
#include "runtime/multinode/multinode_communicator.hpp"
#include "runtime/node/idle_communicators.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/node_communicator.hpp"
#include "runtime/setup/agreement.hpp"

namespace espalier::runtime {

std::unique_ptr<Communicator> Communicator::create(const Bootstrap& bootstrap) {
  if (bootstrap.size == 1) return std::make_unique<SelfCommunicator>();
  const Agreement agreement = agree(bootstrap);
  if (!agreement.refusal.empty())
    return std::make_unique<RefusedCommunicator>(bootstrap.rank, bootstrap.size, agreement.refusal);
  if (agreement.nodes.placement.nodes() > 0)
    return std::make_unique<MultiNodeCommunicator>(agreement, bootstrap.rank);
  return std::make_unique<NodeCommunicator>(agreement.node, bootstrap.rank, bootstrap.size);
}

std::unique_ptr<Communicator> Communicator::find(const Membership& membership) {
  const auto size = static_cast<int>(membership.processes.size());
  if (size == 1) return std::make_unique<SelfCommunicator>();
  auto known = find_share(membership);
  if (!known) return nullptr;
  if (auto idle = IdleCommunicators::instance().take(known->node)) {
    idle->state().rejoin();
    return idle;
  }
  return std::make_unique<NodeCommunicator>(known->node, membership.rank, size, std::move(known->plans));
}

bool Communicator::is_found(const Membership& membership) { return has_share(membership); }

bool Communicator::spans_nodes(const std::vector<int>& processes) { return runtime::spans_nodes(processes); }

void Communicator::release(std::unique_ptr<Communicator> communicator) {
  auto* node = dynamic_cast<NodeCommunicator*>(communicator.get());
  if (!node || !node->state().registered()) return;  // and it is destroyed
  static_cast<void>(communicator.release());         // `node` is the same one
  IdleCommunicators::instance().release(std::unique_ptr<NodeCommunicator>(node));
}

void Communicator::forget_released() {
  IdleCommunicators::instance().clear();
  across::SentLetters::instance().finish();
}

}  // namespace espalier::runtime
