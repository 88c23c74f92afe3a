// Which kind of communicator serves a set of ranks.
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/refused_communicator.hpp"
#include "runtime/communicator/self_communicator.hpp"
#include "runtime/multinode/multinode_communicator.hpp"
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

}  // namespace espalier::runtime
