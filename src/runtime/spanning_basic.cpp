// Barrier, bcast, reduce and allreduce over nodes.
#include "collective/nodes/barrier.hpp"
#include "collective/nodes/reduce.hpp"
#include "runtime/spanning_serve.hpp"

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
  return serve(Collective::bcast, bytes, [&](const NetworkPlan& plan) {
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
  return serve(Collective::reduce, bytes, [&](const NetworkPlan& plan) {
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

int Spanning::leaders_of(const NetworkPlan& plan, std::size_t extent) const {
  const auto most = static_cast<int>(counterparts_.size());
  if (!nodes_.all_share_memory || most == 1) return 1;
  // Where the largest node cannot reduce_scatter, none does: the slots are of one size everywhere.
  if (!collective::Cells::fit(state_->machine, nodes_.placement.largest(), extent)) return 1;
  return plan.leaders == 0 ? most : std::min(plan.leaders, most);
}

bool Spanning::allreduce(const void* send, void* receive, std::size_t count,
                         const reduce::Operation& operation) {
  const std::size_t bytes = count * operation.extent;
  if (offloads(Collective::allreduce, bytes, &operation))
    return allreduce_offloaded({source(send, receive), receive, bytes, operation}), true;
  return serve(Collective::allreduce, bytes, [&](const NetworkPlan& plan) {
    reduce_everywhere({source(send, receive), receive, bytes, operation}, plan);
  });
}

void Spanning::reduce_everywhere(const collective::Reduction& reduction, const NetworkPlan& plan) {
  const std::size_t extent = reduction.operation.extent;
  const collective::Place& place = place_without_root(plan);
  const int leaders = leaders_of(plan, extent);
  const std::size_t lane = Segments(reduction.bytes, plan.segment, extent).longest() + extent;
  std::byte* scratch = nullptr;
  if (local_rank() < leaders)
    scratch =
        scratch_.of(segments_under_way * lane *
                    collective::nodes::scratch_vectors(plan.algorithm, my_node(), nodes_.placement.nodes(),
                                                       place, reduction.operation));
  on_stage([&]<class Stage>(Stage& stage) {
    if constexpr (collective::nodes::SplittingStage<Stage>)
      if (leaders > 1) {
        const auto number = static_cast<std::size_t>(std::min(local_rank(), leaders - 1));
        return collective::nodes::allreduce_split(stage, one_a_node(counterparts_[number]), leaders, place,
                                                  reduction, scratch, plan);
      }
    collective::nodes::allreduce(stage, one_a_node(counterparts_.front()), place, reduction, scratch, plan);
  });
}

}  // namespace espalier::runtime
