// Around a ring: n - 1 steps in which every rank sends one slice to the peer above and receives one from the
// peer below. No step moves more than a slice, so it is for long vectors.
#pragma once

#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// Every rank has its own slice, number rank(); afterwards all. `first` is added to the numbers: who has
/// slice rank() + first.
template <Network N>
Task allgather_ring(N peers, std::byte* data, Slices slices, int first) {
  const int n = peers.size(), me = peers.rank();
  for (int step = 0; step < n - 1; ++step) {
    const int leaving = around(me + first - step, n), coming = around(me + first - step - 1, n);
    auto from_below = peers.receive(around(me - 1, n), data + slices.begin(coming), slices.bytes(coming));
    auto to_above = peers.send(around(me + 1, n), data + slices.begin(leaving), slices.bytes(leaving));
    co_await from_below;
    co_await to_above;
  }
}

/// Scratch: a slice. Each slice is folded along the ring and in one place last, so all get the same bits.
template <Network N>
Task allreduce_ring(N peers, Vector v) {
  const int n = peers.size(), me = peers.rank();
  const Slices slices(v.bytes, v.operation.extent, n);
  for (int step = 0; step < n - 1; ++step) {
    const int leaving = around(me - step, n), coming = around(me - step - 1, n);
    auto from_below = peers.receive(around(me - 1, n), v.scratch, slices.bytes(coming));
    auto to_above = peers.send(around(me + 1, n), v.data + slices.begin(leaving), slices.bytes(leaving));
    co_await from_below;
    co_await to_above;
    std::byte* mine = v.data + slices.begin(coming);
    fold(v.operation, mine, v.scratch, mine, slices.bytes(coming));
  }
  auto gathered = allgather_ring(peers, v.data, slices, 1);
  co_await gathered;
}

}  // namespace espalier::collective::multinode
