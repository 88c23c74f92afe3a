// Reduce_scatter(_block) over nodes.
#include "collective/multinode/reduce_scatter.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::PackedBlocks;
using plan::Algorithm;
using plan::NetworkPlan;

// Where the ranks of a node have no slots for it, all ranks of all nodes go the other way.
bool Spanning::reduces_blocks(const NetworkPlan& plan, std::size_t extent) const {
  return plan.algorithm == Algorithm::transpose && nodes_.all_share_memory && slots_hold(4 * extent);
}

void Spanning::reduce_blocks(const void* send, void* receive, std::span<const std::size_t> edges,
                             const reduce::Operation& operation) {
  const collective::nodes::ReduceScatter call = {
      rank_, nodes_.placement, send, static_cast<std::byte*>(receive), PackedBlocks{edges}, operation};
  const std::size_t bytes = edges.back(), own = call.blocks.bytes_of(rank_);
  const std::size_t share =
      collective::nodes::share_bytes(call, collective::nodes::Counterparts(nodes_.placement, rank_), rank_);
  const collective::nodes::ReduceScatterRoom room = {
      exchanged_[0].of(bytes), exchanged_[1].of(share),
      exchanged_[2].of(own * static_cast<std::size_t>(nodes_.placement.nodes()))};
  const auto fold = [&](std::byte* packed, const collective::nodes::BlocksOfSome& shares, std::byte* mine) {
    if (!state_) {
      std::memcpy(mine, packed, bytes);
      return;
    }
    on_stage([&]<class Stage>(Stage& stage) {
      if constexpr (collective::nodes::SplittingStage<Stage>)
        stage.reduce_scatter(packed, mine, shares.view(), bytes, operation);
    });
  };
  collective::nodes::reduce_scatter(everybody().on(0), call, room, fold);
}

bool Spanning::reduce_scatter(Collective collective, const void* send, void* receive,
                              std::span<const std::size_t> edges, const reduce::Operation& operation) {
  const std::size_t bytes = edges.back(), own = edges[static_cast<std::size_t>(rank_)];
  const void* source = send == Communicator::in_place ? receive : send;
  const bool by_blocks = reduces_blocks(selector_(collective, bytes), operation.extent);
  return serve_as(
      by_blocks ? Algorithm::transpose : Algorithm::allreduce, collective, bytes, [&](const NetworkPlan&) {
        if (bytes == 0) return;
        if (by_blocks) return reduce_blocks(source, receive, edges, operation);
        std::byte* whole = whole_.of(bytes);
        reduce_by(allreduce_algorithm(bytes), {source, whole, bytes, operation},
                  selector_(Collective::allreduce, bytes));
        // The kernel leaves the padding of pairs alone.
        const void* mine = whole + own;
        const std::size_t count = (edges[static_cast<std::size_t>(rank_) + 1] - own) / operation.extent;
        if (count > 0) operation.kernel(receive, &mine, 1, count);
      });
}

}  // namespace espalier::runtime
