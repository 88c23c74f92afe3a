// Allreduce over nodes. The window of the notified ring is in ring_window.cpp.
#include "collective/multinode/allreduce_window.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::Reduction;
using collective::nodes::Segments;
using collective::nodes::segments_under_way;
using plan::NetworkPlan;

namespace {

/// Folds stretches of the vectors of a node's ranks: by all of them, or where their slots are too small for
/// that by the first alone.
template <class Stage>
struct FoldNode {
  Stage& stage;
  const Reduction& reduction;
  bool by_all;

  void operator()(std::size_t offset, std::size_t bytes, std::byte* target) {
    const std::byte* source = collective::at(reduction.send, offset);
    if constexpr (collective::nodes::SplittingStage<Stage>)
      if (by_all)
        return stage.reduce_scatter(
            source, target, collective::nodes::Slices(bytes, reduction.operation.extent, stage.size()),
            reduction.operation);
    stage.reduce(0, source, target, bytes, reduction.operation);
  }
};

/// Some of a vector's bytes.
Reduction part_of(const Reduction& reduction, std::size_t offset, std::size_t bytes) {
  return {collective::at(reduction.send, offset), collective::at(reduction.receive, offset), bytes,
          reduction.operation};
}

}  // namespace

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
  const Reduction reduction = {send == Communicator::in_place ? receive : send, receive, bytes, operation};
  if (offloads(Collective::allreduce, bytes, &operation)) return allreduce_offloaded(reduction), true;
  const plan::Algorithm algorithm = allreduce_algorithm(bytes);
  return serve_as(algorithm, Collective::allreduce, bytes,
                  [&](const NetworkPlan& plan) { reduce_by(algorithm, reduction, plan); });
}

plan::Algorithm Spanning::allreduce_algorithm(std::size_t bytes) {
  return or_ring_of_messages(selector_(Collective::allreduce, bytes).algorithm,
                             std::min(collective::nodes::vector_room(bytes), most_through_a_window));
}

void Spanning::reduce_by(plan::Algorithm algorithm, const Reduction& reduction, const NetworkPlan& plan) {
  if (algorithm != plan::Algorithm::notified_ring) return reduce_everywhere(reduction, plan);
  const std::size_t most =
      collective::nodes::longest_vector(most_through_a_window, reduction.operation.extent);
  for (std::size_t done = 0; done < reduction.bytes; done += most)
    reduce_notified(part_of(reduction, done, std::min(most, reduction.bytes - done)), plan);
}

void Spanning::reduce_notified(const Reduction& reduction, const NetworkPlan& plan) {
  const auto go = [&](auto node, auto fold_node, memory::Step& last) {
    const int carriers = plan.leaders == 0 ? node.size() : plan.leaders;
    collective::nodes::AllreduceWindow ring(**ring_, ring_use_, reduction, node, fold_node, carriers,
                                            plan.segment);
    last = ring.run();
  };
  through_ring([&] {
    on_stage([&]<class Stage>(Stage& stage) {
      const bool by_all =
          state_ && collective::Cells::fit(state_->machine, stage.size(), reduction.operation.extent);
      FoldNode<Stage> fold_node{stage, reduction, by_all};
      memory::Step alone = 0;
      if (!state_) return go(collective::nodes::NodeOfOne(), fold_node, alone);
      // Its ranks meet as in an allgather, for they copy out as much.
      go(collective::nodes::NodeRanks(state_->machine,
                                      state_->selector(Collective::allgatherv, reduction.bytes)),
         fold_node, state_->ring.area.last);
    });
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
