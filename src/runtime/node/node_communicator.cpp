// The life of a communicator of one node; its collectives are in the files of their families.
#include "runtime/node/node_communicator.hpp"

#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

NodeCommunicator::NodeCommunicator(const NodeShare& agreement, int rank, int size)
    : Communicator(rank, size),
      state_(*Process::instance().node(), agreement, rank, {}, Process::instance().hook_in_waits()) {}

}  // namespace espalier::runtime
