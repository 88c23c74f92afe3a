// One segment down or up a tree of peers: several of them, one after the other, are HIER's pipelines
// (3.1, 3.2) on its binary tree, and MPI's usual short-message algorithms on a binomial one.
#pragma once

#include <vector>

#include "collective/core/tree_position.hpp"
#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// `arrived` turns true as soon as the data are there; the task goes on until the children have them, too.
template <Network N>
Task bcast_down(N peers, const TreePosition& position, std::byte* data, std::size_t bytes, bool& arrived) {
  if (!position.is_root()) {
    auto from_parent = peers.receive(position.parent, data, bytes);
    co_await from_parent;
  }
  arrived = true;
  std::vector<decltype(peers.send(0, data, bytes))> to_children;
  to_children.reserve(position.children.size());
  for (const int child : position.children) to_children.push_back(peers.send(child, data, bytes));
  for (auto& message : to_children) co_await message;
}

/// The root's vector becomes the fold of all: own first, then the children's in their order. Scratch: `bytes`
/// for each child.
template <Network N>
Task reduce_up(N peers, const TreePosition& position, Vector v) {
  std::vector<decltype(peers.receive(0, v.data, v.bytes))> from_children;
  std::vector<const void*> sources = {v.data};
  for (const int child : position.children) {
    std::byte* room = v.scratch + from_children.size() * v.bytes;
    from_children.push_back(peers.receive(child, room, v.bytes));
    sources.push_back(room);
  }
  for (auto& message : from_children) co_await message;
  if (!position.is_leaf())
    v.operation.kernel(v.data, sources.data(), static_cast<int>(sources.size()),
                       v.bytes / v.operation.extent);
  if (position.is_root()) co_return;
  auto to_parent = peers.send(position.parent, v.data, v.bytes);
  co_await to_parent;
}

/// Allreduce as both, the second after the first.
template <Network N>
Task reduce_and_bcast(N peers, const TreePosition& position, Vector v) {
  auto reduced = reduce_up(peers, position, v);
  co_await reduced;
  bool arrived = false;
  auto released = bcast_down(peers, position, v.data, v.bytes, arrived);
  co_await released;
}

}  // namespace espalier::collective::multinode
