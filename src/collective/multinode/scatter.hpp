// Scatter(v) over nodes: straight from the root (rooted_blocks.hpp).
#pragma once

#include <cstring>

#include "collective/multinode/stage/rooted_blocks.hpp"

namespace espalier::collective::multinode {

/// At the root, whose own block goes to `receive`, unless that is where it lies. `all`: all ranks; `room`:
/// all_short_blocks() bytes.
template <NodeStage S, Network N, class B>
void scatter_at_root(S& node, N all, const RootedBlocks& call, const void* send, void* receive,
                     const B& blocks, std::byte* room) {
  std::vector<Task> leaving;
  for (int other = 0; other < call.placement.nodes(); ++other) {
    if (other == call.node_of(call.root)) continue;
    for (const int rank : call.ranks_of(other))
      if (const std::size_t bytes = blocks.bytes_of(rank); bytes > 0 && !call.is_short(bytes))
        leaving.push_back(send_long(all.on(long_block_lane), rank, at(send, blocks.offset_of(rank)), bytes));
    const std::size_t some =
        short_blocks_of(call, blocks, other, [&](int rank, std::size_t offset, std::size_t bytes) {
          std::memcpy(room + offset, at(send, blocks.offset_of(rank)), bytes);
        });
    leaving.push_back(send_long(all, call.ranks_of(other).front(), room, some));
    room += some;
  }
  node.scatterv(call.local_root(), send, blocks_beside_root(call, blocks).view(), receive,
                blocks.bytes_of(call.root));
  drive_all(all, leaving);
}

/// At all others. room(bytes) gives a leader memory.
template <NodeStage S, Network N, class Room>
void scatter_to_here(S& node, N all, const RootedBlocks& call, void* receive, std::size_t bytes, Room room) {
  constexpr int leader = 0;
  if (call.is_with_root()) return node.scatterv(call.local_root(), nullptr, {}, receive, bytes);
  const bool is_long = !call.is_short(bytes);
  Task coming;
  if (is_long) coming = receive_long(all.on(long_block_lane), call.root, at(receive, 0), bytes);
  if (!is_long || !call.equal) {
    const ThroughLeader through = ask_neighbours(node, call, bytes);
    const bool leads = node.rank() == leader;
    std::byte* packed = leads ? room(through.total) : nullptr;
    if (leads) {
      const Task packs = receive_long(all, call.root, packed, through.total);
      all.drive_until([&] { return packs.done(); });
    }
    node.scatterv(leader, packed, through.blocks.view(), receive, is_long ? 0 : bytes);
  }
  all.drive_until([&] { return coming.done(); });
}

}  // namespace espalier::collective::multinode
