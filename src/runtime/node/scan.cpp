// Scan and exscan on one node.
#include "collective/dispatch.hpp"
#include "collective/node/scan/scan_whole.hpp"
#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

using collective::Prefix;
using collective::Reduction;
using plan::Plan;

bool NodeCommunicator::scan_of(Collective collective, const void* send, void* receive, std::size_t bytes,
                               const reduce::Operation& operation) {
  const Prefix prefix = collective == Collective::scan ? Prefix::inclusive : Prefix::exclusive;
  return state_.serve({collective, 0, bytes, operation.code}, [&](const Plan& plan) {
    const Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
    collective::by_plan::scan(state_.machine, state_.positions, reduction, prefix, plan);
  });
}

bool NodeCommunicator::scan_of(Collective collective, const void* send, void* receive, std::size_t bytes,
                               const UserOperation& operation) {
  const Prefix prefix = collective == Collective::scan ? Prefix::inclusive : Prefix::exclusive;
  return state_.serve_whole(collective, bytes, 0, [&](const Plan& plan) {
    if (bytes == 0) return;
    collective::scan_whole(state_.machine, send == in_place ? receive : send, receive, bytes, prefix,
                           {operation.combine, operation.context}, plan);
  });
}

bool NodeCommunicator::scan(const void* send, void* receive, std::size_t count,
                            const reduce::Operation& operation) {
  return scan_of(Collective::scan, send, receive, count * operation.extent, operation);
}

bool NodeCommunicator::exscan(const void* send, void* receive, std::size_t count,
                              const reduce::Operation& operation) {
  return scan_of(Collective::exscan, send, receive, count * operation.extent, operation);
}

bool NodeCommunicator::scan(const void* send, void* receive, std::size_t bytes,
                            const UserOperation& operation) {
  return scan_of(Collective::scan, send, receive, bytes, operation);
}

bool NodeCommunicator::exscan(const void* send, void* receive, std::size_t bytes,
                              const UserOperation& operation) {
  return scan_of(Collective::exscan, send, receive, bytes, operation);
}

}  // namespace espalier::runtime
