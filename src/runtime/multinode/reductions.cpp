// Reduce, allreduce and reduce_scatter(_block) over nodes. The window of the notified ring is in
// ring_window.cpp.
#include "collective/multinode/allreduce_window.hpp"
#include "collective/multinode/reduce.hpp"
#include "collective/multinode/reduce_scatter.hpp"
#include "runtime/communicator/block_edges.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::PackedBlocks;
using collective::Reduction;
using collective::multinode::Segments;
using collective::multinode::segments_under_way;
using plan::Algorithm;
using plan::NetworkPlan;

namespace {

const void* source(const void* send, const void* receive) {
  return send == Communicator::in_place ? receive : send;
}

/// Folds stretches of the vectors of a node's ranks: by all of them, or where their slots are too small for
/// that by the first alone.
template <class Stage>
struct FoldNode {
  Stage& stage;
  const Reduction& reduction;
  bool by_all;

  void operator()(std::size_t offset, std::size_t bytes, std::byte* target) {
    const std::byte* source = collective::at(reduction.send, offset);
    if constexpr (collective::multinode::SplittingStage<Stage>)
      if (by_all)
        return stage.reduce_scatter(
            source, target, collective::multinode::Slices(bytes, reduction.operation.extent, stage.size()),
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

int MultiNodeCommunicator::leaders_of(const NetworkPlan& plan, std::size_t extent) const {
  const auto most = static_cast<int>(counterparts_.size());
  if (!nodes_.all_share_memory || most == 1) return 1;
  // Where the largest node cannot reduce_scatter, none does: the slots are of one size everywhere.
  if (!collective::Cells::fit(state_->machine, nodes_.placement.largest(), extent)) return 1;
  return plan.leaders == 0 ? most : std::min(plan.leaders, most);
}

bool MultiNodeCommunicator::allreduce(const void* send, void* receive, std::size_t count,
                                      const reduce::Operation& operation) {
  const std::size_t bytes = count * operation.extent;
  const Reduction reduction = {send == Communicator::in_place ? receive : send, receive, bytes, operation};
  if (operation.at_once) return allreduce_at_once(reduction);
  if (offloads(Collective::allreduce, bytes, &operation)) return allreduce_offloaded(reduction), true;
  const plan::Algorithm algorithm = allreduce_algorithm(bytes, operation.extent);
  return serve_call(algorithm, {Collective::allreduce, 0, bytes, operation.code},
                    [&](const NetworkPlan& plan) { reduce_by(algorithm, reduction, plan); });
}

plan::Algorithm MultiNodeCommunicator::allreduce_algorithm(std::size_t bytes, std::size_t extent) {
  const NetworkPlan& plan = selector_(Collective::allreduce, bytes);
  if (plan.algorithm == plan::Algorithm::notified_dissemination)
    return or_by_messages(plan.algorithm, notified_slices(plan, bytes, extent).room());
  return or_by_messages(plan.algorithm,
                        std::min(collective::multinode::vector_room(bytes), most_through_a_window));
}

// Equal on all ranks, before there is a window.
collective::multinode::NotifiedSlices MultiNodeCommunicator::notified_slices(const NetworkPlan& plan,
                                                                             std::size_t bytes,
                                                                             std::size_t extent) const {
  const int nodes = nodes_.placement.nodes();
  const int most = collective::multinode::NotifiedSlices::most_slices(blocks_of_any_window, nodes);
  return {bytes, extent, std::min(leaders_of(plan, extent), most), nodes};
}

void MultiNodeCommunicator::reduce_by(plan::Algorithm algorithm, const Reduction& reduction,
                                      const NetworkPlan& plan) {
  if (!plan::goes_through_window(algorithm)) return reduce_everywhere(reduction, plan);
  // Vectors that are disseminated fit as they are (allreduce_algorithm).
  const std::size_t most =
      algorithm == plan::Algorithm::notified_ring
          ? collective::multinode::longest_vector(most_through_a_window, reduction.operation.extent)
          : reduction.bytes;
  for (std::size_t done = 0; done < reduction.bytes; done += most)
    reduce_notified(part_of(reduction, done, std::min(most, reduction.bytes - done)), plan, algorithm);
}

void MultiNodeCommunicator::reduce_notified(const Reduction& reduction, const NetworkPlan& plan,
                                            plan::Algorithm algorithm) {
  const auto go = [&](auto node, auto fold_node, memory::Step& last) {
    if (algorithm == plan::Algorithm::notified_dissemination) {
      const int slices = notified_slices(plan, reduction.bytes, reduction.operation.extent).count();
      collective::multinode::AllreduceNotified dissemination(
          **ring_, ring_use_, reduction, node, fold_node,
          [this](std::size_t bytes) { return scratch_.of(bytes); }, slices);
      last = dissemination.run();
      return;
    }
    const int carriers = plan.leaders == 0 ? node.size() : plan.leaders;
    collective::multinode::AllreduceWindow ring(**ring_, ring_use_, reduction, node, fold_node, carriers,
                                                plan.segment);
    last = ring.run();
  };
  through_ring([&] {
    on_stage([&]<class Stage>(Stage& stage) {
      const bool by_all =
          state_ && collective::Cells::fit(state_->machine, stage.size(), reduction.operation.extent);
      FoldNode<Stage> fold_node{stage, reduction, by_all};
      memory::Step alone = 0;
      if (!state_) return go(collective::multinode::NodeOfOne(), fold_node, alone);
      // Its ranks meet as in an allgather, for they copy out as much.
      go(collective::multinode::NodeRanks(state_->machine,
                                          state_->selector(Collective::allgatherv, reduction.bytes)),
         fold_node, state_->ring.area.last);
    });
  });
}

void MultiNodeCommunicator::reduce_everywhere(const collective::Reduction& reduction,
                                              const NetworkPlan& plan) {
  const std::size_t extent = reduction.operation.extent;
  const collective::TreePosition& position = place_without_root(plan);
  const int leaders = leaders_of(plan, extent);
  const std::size_t lane = Segments(reduction.bytes, plan.segment, extent).longest() + extent;
  std::byte* scratch = nullptr;
  if (local_rank() < leaders)
    scratch =
        scratch_.of(segments_under_way * lane *
                    collective::multinode::scratch_vectors(
                        plan.algorithm, my_node(), nodes_.placement.nodes(), position, reduction.operation));
  on_stage([&]<class Stage>(Stage& stage) {
    if constexpr (collective::multinode::SplittingStage<Stage>)
      if (leaders > 1) {
        const auto number = static_cast<std::size_t>(std::min(local_rank(), leaders - 1));
        return collective::multinode::allreduce_split(stage, one_a_node(counterparts_[number]), leaders,
                                                      position, reduction, scratch, plan);
      }
    collective::multinode::allreduce(stage, one_a_node(counterparts_.front()), position, reduction, scratch,
                                     plan);
  });
}

bool MultiNodeCommunicator::reduce(const void* send, void* receive, std::size_t count,
                                   const reduce::Operation& operation, int root) {
  const std::size_t bytes = count * operation.extent;
  if (operation.at_once) return reduce_at_once({source(send, receive), receive, bytes, operation}, root);
  if (offloads(Collective::reduce, bytes, &operation))
    return reduce_offloaded({source(send, receive), receive, bytes, operation}, root), true;
  return serve({Collective::reduce, root, bytes, operation.code}, [&](const NetworkPlan& plan) {
    const Roles& mine = roles(plan, root);
    const std::size_t lane = Segments(bytes, plan.segment, operation.extent).longest();
    collective::multinode::ReduceRoom room{};
    if (local_rank() == mine.leader)
      room = {
          vectors_.of(segments_under_way * lane),
          scratch_.of(segments_under_way * lane * std::max<std::size_t>(1, mine.position.children.size()))};
    const collective::Reduction reduction = {source(send, receive), receive, bytes, operation};
    on_stage([&](auto& stage) { collective::multinode::reduce(stage, rooted(mine), reduction, room, plan); });
  });
}

// Where the ranks of a node have no slots for it, all ranks of all nodes go the other way.
bool MultiNodeCommunicator::reduces_blocks(const NetworkPlan& plan, std::size_t extent) const {
  return plan.algorithm == Algorithm::transpose && nodes_.all_share_memory && slots_hold(4 * extent);
}

void MultiNodeCommunicator::reduce_blocks(const void* send, void* receive, std::span<const std::size_t> edges,
                                          const reduce::Operation& operation) {
  const collective::multinode::ReduceScatter call = {
      rank(), nodes_.placement, send, static_cast<std::byte*>(receive), PackedBlocks{edges}, operation};
  const std::size_t bytes = edges.back(), own = call.blocks.bytes_of(rank());
  const std::size_t share = collective::multinode::share_bytes(
      call, collective::multinode::Counterparts(nodes_.placement, rank()), rank());
  const collective::multinode::ReduceScatterRoom room = {
      exchanged_[0].of(bytes), exchanged_[1].of(share),
      exchanged_[2].of(own * static_cast<std::size_t>(nodes_.placement.nodes()))};
  const auto fold = [&](std::byte* packed, const collective::multinode::BlocksOfSome& shares,
                        std::byte* mine) {
    if (!state_) {
      std::memcpy(mine, packed, bytes);
      return;
    }
    on_stage([&]<class Stage>(Stage& stage) {
      if constexpr (collective::multinode::SplittingStage<Stage>)
        stage.reduce_scatter(packed, mine, shares.view(), bytes, operation);
    });
  };
  collective::multinode::reduce_scatter(all_ranks().on(0), call, room, fold);
}

bool MultiNodeCommunicator::reduce_scatter_of(Collective collective, const void* send, void* receive,
                                              std::span<const std::size_t> edges,
                                              const reduce::Operation& operation) {
  const std::size_t bytes = edges.back(), own = edges[static_cast<std::size_t>(rank())];
  const void* source = send == Communicator::in_place ? receive : send;
  if (operation.at_once)
    return reduce_scatter_at_once(collective, {source, receive, bytes, operation}, edges);
  const bool by_blocks = reduces_blocks(selector_(collective, bytes), operation.extent);
  return serve_call(by_blocks ? Algorithm::transpose : Algorithm::allreduce,
                    {collective, 0, bytes, operation.code}, [&](const NetworkPlan&) {
                      if (bytes == 0) return;
                      if (by_blocks) return reduce_blocks(source, receive, edges, operation);
                      std::byte* whole = whole_.of(bytes);
                      reduce_by(allreduce_algorithm(bytes, operation.extent),
                                {source, whole, bytes, operation}, selector_(Collective::allreduce, bytes));
                      // The kernel leaves the padding of pairs alone.
                      const void* mine = whole + own;
                      const std::size_t count =
                          (edges[static_cast<std::size_t>(rank()) + 1] - own) / operation.extent;
                      if (count > 0) operation.kernel(receive, &mine, 1, count);
                    });
}

bool MultiNodeCommunicator::reduce_scatter_block(const void* send, void* receive, std::size_t count,
                                                 const reduce::Operation& operation) {
  return reduce_scatter_of(Collective::reduce_scatter_block, send, receive,
                           BlockEdges(size(), count * operation.extent), operation);
}

bool MultiNodeCommunicator::reduce_scatter(const void* send, void* receive,
                                           std::span<const std::size_t> counts,
                                           const reduce::Operation& operation) {
  return reduce_scatter_of(Collective::reduce_scatter, send, receive, BlockEdges(counts, operation.extent),
                           operation);
}

bool MultiNodeCommunicator::reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                                                 const UserOperation& operation) {
  return reduce_scatter_of(Collective::reduce_scatter_block, send, receive, BlockEdges(size(), bytes),
                           operation);
}

bool MultiNodeCommunicator::reduce_scatter(const void* send, void* receive,
                                           std::span<const std::size_t> bytes,
                                           const UserOperation& operation) {
  return reduce_scatter_of(Collective::reduce_scatter, send, receive, BlockEdges(bytes, 1), operation);
}

}  // namespace espalier::runtime
