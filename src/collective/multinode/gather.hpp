// Gather(v) over nodes: straight to the root (rooted_blocks.hpp).
#pragma once

#include <cstring>

#include "collective/multinode/stage/rooted_blocks.hpp"

namespace espalier::collective::multinode {

/// At the root. `own` may be in its place in `receive` already. `all`: all ranks; `room`: all_short_blocks()
/// bytes.
template <NodeStage S, Network N, class B>
void gather_at_root(S& node, N all, const RootedBlocks& call, const void* own, void* receive, const B& blocks,
                    std::byte* room) {
  const auto nothing = [](int, std::size_t, std::size_t) {};
  const auto for_other_nodes = [&](auto body) {
    for (int other = 0; other < call.placement.nodes(); ++other)
      if (other != call.node_of(call.root)) body(other);
  };
  std::vector<Task> coming;
  std::byte* packed = room;
  for_other_nodes([&](int other) {
    for (const int rank : call.ranks_of(other))
      if (const std::size_t bytes = blocks.bytes_of(rank); bytes > 0 && !call.is_short(bytes))
        coming.push_back(
            receive_long(all.on(long_block_lane), rank, at(receive, blocks.offset_of(rank)), bytes));
    const std::size_t some = short_blocks_of(call, blocks, other, nothing);
    coming.push_back(receive_long(all, call.ranks_of(other).front(), packed, some));
    packed += some;
  });
  node.gatherv(call.local_root(), own, blocks.bytes_of(call.root), receive,
               blocks_beside_root(call, blocks).view());
  drive_all(all, coming);
  packed = room;
  for_other_nodes([&](int other) {
    packed += short_blocks_of(call, blocks, other, [&](int rank, std::size_t offset, std::size_t bytes) {
      std::memcpy(at(receive, blocks.offset_of(rank)), packed + offset, bytes);
    });
  });
}

/// At all others. room(bytes) gives a leader memory.
template <NodeStage S, Network N, class Room>
void gather_from_here(S& node, N all, const RootedBlocks& call, const void* own, std::size_t bytes,
                      Room room) {
  constexpr int leader = 0;
  if (call.is_with_root()) return node.gatherv(call.local_root(), own, bytes, nullptr, {});
  const bool is_long = !call.is_short(bytes);
  std::vector<Task> leaving;
  if (is_long) leaving.push_back(send_long(all.on(long_block_lane), call.root, at(own, 0), bytes));
  if (!is_long || !call.equal) {
    const ThroughLeader through = ask_neighbours(node, call, bytes);
    const bool leads = node.rank() == leader;
    std::byte* packed = leads ? room(through.total) : nullptr;
    node.gatherv(leader, own, is_long ? 0 : bytes, packed, through.blocks.view());
    if (leads) leaving.push_back(send_long(all, call.root, packed, through.total));
  }
  drive_all(all, leaving);
}

}  // namespace espalier::collective::multinode
