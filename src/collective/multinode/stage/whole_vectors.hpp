// Whole vectors in packed form, for operators that only the caller can apply.
#pragma once

#include <memory>
#include <vector>

#include "collective/multinode/network/vector.hpp"
#include "collective/node/reductions/reduce_whole.hpp"

namespace espalier::collective::multinode {

/// Reduces up a tree whose subtrees cover consecutive peers. `own` is the vector of this rank; the root's
/// becomes the fold of all in the order of the peers.
template <Network N>
Task reduce_whole_up(N peers, const ContiguousPosition& position, std::unique_ptr<std::byte[]>& own,
                     std::size_t bytes, WholeOperation operation) {
  std::vector<int> children = position.before;
  children.insert(children.end(), position.after.begin(), position.after.end());
  collective::detail::Vectors vectors;
  std::vector<decltype(peers.receive(0, own.get(), bytes))> from_children;
  for (const int child : children) {
    vectors.emplace_back(new std::byte[bytes]);
    from_children.push_back(peers.receive(child, vectors.back().get(), bytes));
  }
  for (auto& message : from_children) co_await message;
  own = collective::detail::fold_whole(std::move(vectors), position.before.size(), std::move(own), operation);
  if (position.is_root()) co_return;
  auto to_parent = peers.send(position.parent, own.get(), bytes);
  co_await to_parent;
}

}  // namespace espalier::collective::multinode
