// Scan and exscan over nodes.
#include "collective/multinode/scan.hpp"
#include "collective/multinode/scan_any_order.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::Prefix;
using collective::multinode::Segments;
using collective::multinode::segments_under_way;
using plan::NetworkPlan;

bool MultiNodeCommunicator::scan_of(Collective collective, const void* send, void* receive, std::size_t count,
                                    const reduce::Operation& operation) {
  const std::size_t bytes = count * operation.extent;
  const Prefix prefix = collective == Collective::scan ? Prefix::inclusive : Prefix::exclusive;
  const collective::Reduction reduction = {send == Communicator::in_place ? receive : send, receive, bytes,
                                           operation};
  if (operation.at_once) return scan_at_once(collective, reduction);
  return serve({collective, 0, bytes, operation.code}, [&](const NetworkPlan& plan) {
    const std::size_t lane = Segments(bytes, plan.segment, operation.extent).longest();
    if (plan::scans_totals(plan.algorithm, nodes_.placement.is_consecutive())) {
      std::byte* room = vectors_.of(2 * segments_under_way * lane);
      const collective::multinode::ScanRoom rooms = {
          room, room + segments_under_way * lane,
          scratch_.of(segments_under_way * lane *
                      collective::multinode::scan_scratch_vectors(plan.algorithm, nodes_.placement.nodes()))};
      return on_stage([&](auto& stage) {
        collective::multinode::scan(stage, one_a_node(last_ranks_), my_node() == 0, reduction, prefix, rooms,
                                    plan);
      });
    }
    std::byte* room = nullptr;
    if (local_rank() == 0) {
      const auto sizes =
          collective::multinode::any_order_room(nodes_.placement, lane, operation.extent, plan.algorithm);
      room = vectors_.of(segments_under_way * (sizes.vectors + sizes.scratch));
    }
    on_stage([&](auto& stage) {
      collective::multinode::scan_any_order(stage, one_a_node(counterparts_.front()), rank(),
                                            nodes_.placement, reduction, prefix, room, plan);
    });
  });
}

bool MultiNodeCommunicator::scan(const void* send, void* receive, std::size_t count,
                                 const reduce::Operation& operation) {
  return scan_of(Collective::scan, send, receive, count, operation);
}

bool MultiNodeCommunicator::exscan(const void* send, void* receive, std::size_t count,
                                   const reduce::Operation& operation) {
  return scan_of(Collective::exscan, send, receive, count, operation);
}

bool MultiNodeCommunicator::scan(const void* send, void* receive, std::size_t bytes,
                                 const UserOperation& operation) {
  return scan_of(Collective::scan, send, receive, bytes, operation);
}

bool MultiNodeCommunicator::exscan(const void* send, void* receive, std::size_t bytes,
                                   const UserOperation& operation) {
  return scan_of(Collective::exscan, send, receive, bytes, operation);
}

}  // namespace espalier::runtime
