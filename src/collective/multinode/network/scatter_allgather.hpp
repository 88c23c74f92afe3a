// Bcast of long messages: a binomial tree scatters the slices, a ring brings them together, so that no link
// carries the whole message twice.
#pragma once

#include <vector>

#include "collective/multinode/network/ring.hpp"

namespace espalier::collective::multinode {

/// From peer 0. A peer gets the slices of its whole subtree, keeps its own and passes the others on.
template <Network N>
Task scatter_binomial(N peers, std::byte* data, Slices slices) {
  const int n = peers.size(), me = peers.rank();
  int reach = 1;  // this peer's subtree: [me, me + reach)
  while (reach < n && (me & reach) == 0) reach *= 2;
  if (me > 0) {
    const int last = std::min(me + reach, n);
    auto from_parent = peers.receive(me - reach, data + slices.begin(me), slices.bytes(me, last));
    co_await from_parent;
  }
  std::vector<decltype(peers.send(0, data, std::size_t{0}))> to_children;
  for (reach /= 2; reach > 0; reach /= 2) {
    const int first = me + reach, last = std::min(first + reach, n);
    if (first < n)
      to_children.push_back(peers.send(first, data + slices.begin(first), slices.bytes(first, last)));
  }
  for (auto& message : to_children) co_await message;
}

template <Network N>
Task bcast_scatter_allgather(N peers, std::byte* data, std::size_t bytes, bool& arrived) {
  const Slices slices(bytes, 1, peers.size());
  auto scattered = scatter_binomial(peers, data, slices);
  co_await scattered;
  auto gathered = allgather_ring(peers, data, slices, 0);
  co_await gathered;
  arrived = true;
}

}  // namespace espalier::collective::multinode
