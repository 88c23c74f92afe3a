// Barrier, bcast and reduce over nodes.
#include "collective/multinode/barrier.hpp"
#include "collective/multinode/reduce.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::nodes::Segments;
using collective::nodes::segments_under_way;
using plan::NetworkPlan;

namespace {

const void* source(const void* send, const void* receive) {
  return send == Communicator::in_place ? receive : send;
}

}  // namespace

// The root of the tree is any node, here the first.
const collective::Place& Spanning::place_without_root(const NetworkPlan& plan) {
  return roles(plan, nodes_.placement.ranks_of.front().front()).place;
}

bool Spanning::barrier() {
  if (offloads(Collective::barrier, 0, nullptr)) return barrier_offloaded(), true;
  return serve(Collective::barrier, 0, [&](const NetworkPlan& plan) {
    const collective::Place& place = place_without_root(plan);
    on_stage([&](auto& stage) {
      collective::nodes::barrier(stage, one_a_node(counterparts_.front()), place, plan.algorithm);
    });
  });
}

bool Spanning::bcast(void* buffer, std::size_t bytes, int root) {
  return serve_rooted(Collective::bcast, bytes, root, [&](const NetworkPlan& plan) {
    on_stage([&](auto& stage) {
      collective::nodes::bcast(stage, rooted(roles(plan, root)), buffer, bytes, plan);
    });
  });
}

bool Spanning::reduce(const void* send, void* receive, std::size_t count, const reduce::Operation& operation,
                      int root) {
  const std::size_t bytes = count * operation.extent;
  if (offloads(Collective::reduce, bytes, &operation))
    return reduce_offloaded({source(send, receive), receive, bytes, operation}, root), true;
  return serve_rooted(Collective::reduce, bytes, root, [&](const NetworkPlan& plan) {
    const Roles& mine = roles(plan, root);
    const std::size_t lane = Segments(bytes, plan.segment, operation.extent).longest();
    collective::nodes::ReduceRoom room{};
    if (local_rank() == mine.leader)
      room = {vectors_.of(segments_under_way * lane),
              scratch_.of(segments_under_way * lane * std::max<std::size_t>(1, mine.place.children.size()))};
    const collective::Reduction reduction = {source(send, receive), receive, bytes, operation};
    on_stage([&](auto& stage) { collective::nodes::reduce(stage, rooted(mine), reduction, room, plan); });
  });
}

}  // namespace espalier::runtime
