// What gather(v) and scatter(v) over nodes have in common: short blocks travel with those of their node, in
// one message between its leader and the root; long ones by themselves.
#pragma once

#include "collective/multinode/network/long_message.hpp"
#include "collective/multinode/stage/node_order.hpp"
#include "collective/multinode/stage/stage.hpp"

namespace espalier::collective::multinode {

/// The lane of blocks that travel by themselves; the others' is 0.
inline constexpr int long_block_lane = 1;

/// A call seen from one rank. The root leads its node, rank 0 the others.
struct RootedBlocks {
  int rank, root;
  const Placement& placement;
  std::size_t long_block;  ///< so long a block travels by itself; both its ends know how long it is
  bool equal;              ///< all blocks have one length, so no rank has to be asked

  int node_of(int r) const { return placement.node_of[static_cast<std::size_t>(r)]; }
  const std::vector<int>& ranks_of(int node) const {
    return placement.ranks_of[static_cast<std::size_t>(node)];
  }
  const std::vector<int>& neighbours() const { return ranks_of(node_of(rank)); }
  bool is_with_root() const { return node_of(rank) == node_of(root); }
  int local_root() const { return placement.local_rank_of[static_cast<std::size_t>(root)]; }
  bool is_short(std::size_t bytes) const { return bytes < long_block; }
};

/// The blocks of this rank's node, where they lie at the root.
template <class B>
BlocksOfSome blocks_beside_root(const RootedBlocks& call, const B& blocks) {
  BlocksOfSome some;
  for (const int rank : call.neighbours()) some.add(blocks.bytes_of(rank), blocks.offset_of(rank));
  return some;
}

/// What goes through this rank's leader, one behind the other; means something there only.
struct ThroughLeader {
  BlocksOfSome blocks;
  std::size_t total = 0;
};

/// All ranks of a node without the root call it; `bytes`: of the own block.
template <NodeStage S>
ThroughLeader ask_neighbours(S& node, const RootedBlocks& call, std::size_t bytes) {
  constexpr int leader = 0;
  const std::uint64_t mine = call.is_short(bytes) ? bytes : 0;
  std::vector<std::uint64_t> all(call.neighbours().size(), mine);
  if (!call.equal) node.gather(leader, &mine, all.data(), sizeof mine);
  ThroughLeader result;
  for (const std::uint64_t each : all) {
    result.blocks.add(each, result.total);
    result.total += each;
  }
  return result;
}

/// At the root: what a node's leader has for it or gets from it, one behind the other. visit(rank, offset,
/// bytes) for each block in it; returns how much it is.
template <class B, class Visit>
std::size_t short_blocks_of(const RootedBlocks& call, const B& blocks, int node, Visit visit) {
  std::size_t end = 0;
  for (const int rank : call.ranks_of(node)) {
    const std::size_t bytes = blocks.bytes_of(rank);
    if (bytes == 0 || !call.is_short(bytes)) continue;
    visit(rank, end, bytes);
    end += bytes;
  }
  return end;
}

template <class B>
std::size_t all_short_blocks(const RootedBlocks& call, const B& blocks) {
  std::size_t total = 0;
  for (int node = 0; node < call.placement.nodes(); ++node)
    if (node != call.node_of(call.root)) total += short_blocks_of(call, blocks, node, [](int, auto, auto) {});
  return total;
}

}  // namespace espalier::collective::multinode
