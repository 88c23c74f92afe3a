// Reduce_scatter(_block) over nodes: on its node a rank folds the blocks of the ranks to which it sends (its
// audience, counterparts.hpp). Every rank gets what each node has for it and folds that. A link carries no
// more than the blocks of the other nodes' ranks once: half of what an allreduce takes.
#pragma once

#include <cstring>

#include "collective/multinode/network/long_message.hpp"
#include "collective/multinode/stage/counterparts.hpp"
#include "collective/multinode/stage/node_order.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "collective/node/reductions/reduce.hpp"

namespace espalier::collective::multinode {

/// One rank's side of a call.
struct ReduceScatter {
  int rank;
  const Placement& placement;
  const void* send;     ///< the whole vector
  std::byte* receive;   ///< this rank's block; may be anywhere in `send`
  PackedBlocks blocks;  ///< of all ranks, in `send`
  const reduce::Operation& operation;
};

/// What a rank of this node gets of the node's fold: its own block, then those of its audience.
inline std::size_t share_bytes(const ReduceScatter& call, const Counterparts& who, int neighbour) {
  std::size_t bytes = call.blocks.bytes_of(neighbour);
  for (const int to : who.audience(neighbour)) bytes += call.blocks.bytes_of(to);
  return bytes;
}

/// Copies this rank's vector to `packed`, as large, as the shares of this node's ranks one after the other.
inline BlocksOfSome pack_shares(const ReduceScatter& call, const Counterparts& who, std::byte* packed) {
  BlocksOfSome shares;
  std::size_t end = 0;
  const auto add = [&](int rank) {
    const std::size_t bytes = call.blocks.bytes_of(rank);
    if (bytes > 0) std::memcpy(packed + end, at(call.send, call.blocks.offset_of(rank)), bytes);
    end += bytes;
  };
  for (const int neighbour : who.neighbours()) {
    const std::size_t begin = end;
    add(neighbour);
    for (const int to : who.audience(neighbour)) add(to);
    shares.add(end - begin, begin);
  }
  return shares;
}

/// Scratch memory: this rank's vector as the shares of this node's ranks; this rank's share of the node's
/// fold; this rank's block from each other node.
struct ReduceScatterRoom {
  std::byte *packed, *share, *coming;
};

/// fold_on_node(packed, shares, share) folds the shares over the node's ranks, and writes this rank's to
/// `share`. The nodes' parts are folded in the order of the nodes, so the operation must commute. `all`: the
/// network of all ranks.
template <Network N, class FoldOnNode>
void reduce_scatter(N all, const ReduceScatter& call, const ReduceScatterRoom& room,
                    FoldOnNode fold_on_node) {
  const Counterparts who(call.placement, call.rank);
  const std::size_t own = call.blocks.bytes_of(call.rank);
  std::vector<Task> tasks;
  std::vector<const void*> parts;
  std::byte* coming = room.coming;
  for (int node = 0; node < who.nodes(); ++node) {
    parts.push_back(node == who.node() ? room.share : coming);
    if (node == who.node()) continue;
    tasks.push_back(receive_long(all, who.speaker(node, call.rank), coming, own));
    coming += own;
  }
  fold_on_node(room.packed, pack_shares(call, who, room.packed), room.share);
  const std::byte* leaving = room.share + own;
  for (const int to : who.audience(call.rank)) {
    tasks.push_back(send_long(all, to, leaving, call.blocks.bytes_of(to)));
    leaving += call.blocks.bytes_of(to);
  }
  drive_all(all, tasks);
  if (own > 0)
    call.operation.kernel(call.receive, parts.data(), static_cast<int>(parts.size()),
                          own / call.operation.extent);
}

}  // namespace espalier::collective::multinode
