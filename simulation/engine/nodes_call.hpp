// One collective call over nodes, for any node stage.
#pragma once

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/multinode/allgather.hpp"
#include "collective/multinode/allreduce.hpp"
#include "collective/multinode/alltoall.hpp"
#include "collective/multinode/barrier.hpp"
#include "collective/multinode/gather.hpp"
#include "collective/multinode/reduce.hpp"
#include "collective/multinode/reduce_scatter.hpp"
#include "collective/multinode/scan.hpp"
#include "collective/multinode/scan_any_order.hpp"
#include "collective/multinode/scatter.hpp"
#include "plan/rules.hpp"
#include "simulation/engine/call.hpp"
#include "simulation/engine/peers.hpp"
#include "simulation/engine/room.hpp"

namespace espalier::simulation {

/// A call as one rank sees it, and as runtime/multinode/ serves it in programs. The root leads its node,
/// and those with its local number theirs.
template <collective::multinode::NodeStage Stage>
class NodesCall {
 public:
  NodesCall(Stage& stage, const Call& call, const Shape& shape, int rank,
            const collective::multinode::Placement& placement, const collective::TreePosition& position,
            const Buffers& b, const reduce::Operation& sum)
      : stage_(stage),
        call_(call),
        shape_(shape),
        rank_(rank),
        placement_(placement),
        place_(position),
        b_(b),
        r_{b.send, b.receive, call.bytes, sum} {}

  void run() {
    namespace multinode = collective::multinode;
    const plan::NetworkPlan& plan = call_.network;
    switch (call_.collective) {
      case Collective::barrier:
        return multinode::barrier(stage_, counterparts(0), place_, plan.algorithm);
      case Collective::bcast:
        return multinode::bcast(stage_, rooted(), b_.receive, call_.bytes, plan);
      case Collective::reduce:
        return multinode::reduce(stage_, rooted(), r_, {b_.receive, b_.scratch}, plan);
      case Collective::allreduce:
        return allreduce(r_);
      case Collective::scan:
        return scan(collective::Prefix::inclusive);
      case Collective::exscan:
        return scan(collective::Prefix::exclusive);
      case Collective::allgather:
      case Collective::allgatherv:
        return allgather();
      case Collective::gather:
        return gather(EqualBlocks{call_.bytes}, true);
      case Collective::gatherv:
        return gather(listed_blocks(call_.bytes, shape_.ranks()).view(), false);
      case Collective::scatter:
        return scatter(EqualBlocks{call_.bytes}, true);
      case Collective::scatterv:
        return scatter(listed_blocks(call_.bytes, shape_.ranks()).view(), false);
      case Collective::alltoall:
        return alltoall(EqualBlocks{call_.bytes}, true);
      case Collective::alltoallv:
        return alltoall(listed_blocks(call_.bytes, shape_.ranks()).view(), false);
      case Collective::reduce_scatter:
      case Collective::reduce_scatter_block:
        return reduce_scatter();
      default:
        throw Error(formatted("simulation has no {} over nodes", to_string(call_.collective)));
    }
  }

 private:
  using EqualBlocks = collective::EqualBlocks;
  static constexpr std::size_t lanes = collective::multinode::segments_under_way;

  int node() const { return shape_.node_of(rank_); }
  /// The ranks with this local number; of which a node's others know only how many they are.
  SimulatedPeers counterparts(int local) const {
    return {node(), shape_.nodes, local, shape_.ranks_per_node};
  }
  SimulatedPeers all_ranks() const { return {rank_, shape_.ranks(), 0, 1}; }
  std::size_t longest_segment() const {
    return collective::multinode::Segments(call_.bytes, call_.network.segment, 8).longest();
  }

  collective::multinode::Rooted<SimulatedPeers> rooted() const {
    const int leader = shape_.local(call_.root), first = shape_.node_of(call_.root);
    SimulatedPeers from_root = counterparts(leader);
    from_root.me = (node() - first + shape_.nodes) % shape_.nodes;
    from_root.turned = first;
    return {leader, counterparts(leader), from_root, place_};
  }

  void allreduce(const collective::Reduction& r) {
    if constexpr (collective::multinode::SplittingStage<Stage>) {
      const int most = shape_.ranks_per_node;
      const int leaders = call_.network.leaders == 0 ? most : std::min(call_.network.leaders, most);
      if (leaders > 1)
        return collective::multinode::allreduce_split(stage_,
                                                      counterparts(std::min(stage_.rank(), leaders - 1)),
                                                      leaders, place_, r, b_.scratch, call_.network);
    }
    collective::multinode::allreduce(stage_, counterparts(0), place_, r, b_.scratch, call_.network);
  }

  void scan(collective::Prefix prefix) {
    const std::size_t lane = lanes * longest_segment();
    if (plan::scans_totals(call_.network.algorithm, placement_.is_consecutive())) {
      const collective::multinode::ScanRoom room = {
          room_.of(lane), room_.of(lane),
          room_.of(lane *
                   collective::multinode::scan_scratch_vectors(call_.network.algorithm, shape_.nodes))};
      return collective::multinode::scan(stage_, counterparts(shape_.ranks_per_node - 1), node() == 0, r_,
                                         prefix, room, call_.network);
    }
    const auto sizes =
        collective::multinode::any_order_room(placement_, longest_segment(), 8, call_.network.algorithm);
    collective::multinode::scan_any_order(stage_, counterparts(0), rank_, placement_, r_, prefix,
                                          room_.of(lanes * (sizes.vectors + sizes.scratch)), call_.network);
  }

  void allgather() {
    const EqualBlocks blocks{call_.bytes};
    const auto order = collective::multinode::in_node_order(placement_, blocks);
    // A rank's own copies cost nothing here, and a recorder has no data to copy.
    std::byte* receive = Sink::current().moves_data() ? b_.receive : nullptr;
    const collective::multinode::Allgather<EqualBlocks> call{rank_,  b_.send,    receive,
                                                             blocks, placement_, order};
    collective::multinode::allgather_by_leaders(stage_, counterparts(0), call, room_.of(order.total()),
                                                call_.network);
  }

  /// `equal`: all ranks know that blocks have one length; else they are asked.
  collective::multinode::RootedBlocks rooted_blocks(bool equal) const {
    return {rank_, call_.root, placement_, call_.network.segment, equal};
  }
  template <class B>
  void gather(const B& blocks, bool equal) {
    const auto call = rooted_blocks(equal);
    if (rank_ != call_.root)
      return collective::multinode::gather_from_here(stage_, all_ranks(), call, b_.send, call_.bytes,
                                                     [this](std::size_t bytes) { return room_.of(bytes); });
    collective::multinode::gather_at_root(stage_, all_ranks(), call, b_.send, b_.receive, blocks,
                                          room_.of(collective::multinode::all_short_blocks(call, blocks)));
  }
  template <class B>
  void scatter(const B& blocks, bool equal) {
    const auto call = rooted_blocks(equal);
    if (rank_ != call_.root)
      return collective::multinode::scatter_to_here(stage_, all_ranks(), call, b_.receive, call_.bytes,
                                                    [this](std::size_t bytes) { return room_.of(bytes); });
    collective::multinode::scatter_at_root(stage_, all_ranks(), call, b_.send, b_.receive, blocks,
                                           room_.of(collective::multinode::all_short_blocks(call, blocks)));
  }

  template <class B>
  void alltoall(const B& blocks, bool equal) {
    const auto room = [this](std::size_t, std::size_t bytes) { return room_.of(bytes); };
    using Exchange = collective::multinode::Alltoall<Stage, SimulatedPeers, B, B, decltype(room)>;
    Exchange(stage_, all_ranks(),
             {rank_, placement_, call_.network.segment, equal, b_.send, blocks, b_.receive, blocks}, room)
        .run();
  }

  void reduce_scatter() {
    const std::vector<std::size_t> edges = block_edges(call_.bytes, shape_.ranks());
    if constexpr (collective::multinode::SplittingStage<Stage>)
      if (call_.network.algorithm == plan::Algorithm::transpose) return transpose(edges);
    std::byte* whole = room_.of(call_.bytes);
    allreduce({b_.send, whole, call_.bytes, r_.operation});
    const std::size_t own = edges[static_cast<std::size_t>(rank_)];
    std::memcpy(b_.receive, whole + own, edges[static_cast<std::size_t>(rank_) + 1] - own);
  }
  void transpose(const std::vector<std::size_t>& edges) {
    namespace multinode = collective::multinode;
    const multinode::ReduceScatter call = {
        rank_, placement_, b_.send, b_.receive, collective::PackedBlocks{edges}, r_.operation};
    const std::size_t share = multinode::share_bytes(call, multinode::Counterparts(placement_, rank_), rank_);
    const multinode::ReduceScatterRoom room = {
        room_.of(call_.bytes), room_.of(share),
        room_.of(call.blocks.bytes_of(rank_) * static_cast<std::size_t>(shape_.nodes))};
    multinode::reduce_scatter(all_ranks(), call, room,
                              [&](std::byte* packed, const multinode::BlocksOfSome& shares, std::byte* mine) {
                                stage_.reduce_scatter(packed, mine, shares.view(), call_.bytes, r_.operation);
                              });
  }

  Stage& stage_;
  const Call& call_;
  Shape shape_;
  int rank_;
  const collective::multinode::Placement& placement_;
  const collective::TreePosition& place_;
  Buffers b_;
  collective::Reduction r_;
  Room room_;
};

}  // namespace espalier::simulation
