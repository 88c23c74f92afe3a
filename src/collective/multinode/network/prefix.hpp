// What scans need between nodes: the fold of the vectors of all peers below (HIER 3.5, step 3).
#pragma once

#include <algorithm>

#include "collective/multinode/network/bruck_allgather.hpp"

namespace espalier::collective::multinode {

/// `total`: the own vector, used up. `prefix`: the result; peer 0's is left alone. Scratch: `bytes`.
struct PrefixBuffers {
  std::byte *total, *prefix, *scratch;
  std::size_t bytes;
};

/// log2 n rounds: after distance d a peer has folded the 2d vectors that end with its own.
/// fold(left, right, bytes): right = left op right.
template <Network N, class Fold>
Task exscan_doubling(N peers, PrefixBuffers b, Fold fold) {
  const int n = peers.size(), me = peers.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    const bool takes = me >= distance, gives = me + distance < n;
    if (takes && gives) {
      auto from_below = peers.receive(me - distance, b.scratch, b.bytes);
      auto to_above = peers.send(me + distance, b.total, b.bytes);
      co_await from_below;
      co_await to_above;
    } else if (takes) {
      auto from_below = peers.receive(me - distance, b.scratch, b.bytes);
      co_await from_below;
    } else if (gives) {
      auto to_above = peers.send(me + distance, b.total, b.bytes);
      co_await to_above;
    }
    if (!takes) continue;
    if (distance == 1)
      std::copy_n(b.scratch, b.bytes, b.prefix);
    else
      fold(b.scratch, b.prefix, b.bytes);
    if (me + 2 * distance < n) fold(b.scratch, b.total, b.bytes);
  }
}

/// From peer to peer: n - 1 hops, but no vector travels more than once, so segments follow on each other.
template <Network N, class Fold>
Task exscan_chain(N peers, PrefixBuffers b, Fold fold) {
  const int n = peers.size(), me = peers.rank();
  if (me > 0) {
    auto from_below = peers.receive(me - 1, b.prefix, b.bytes);
    co_await from_below;
    if (me + 1 < n) fold(b.prefix, b.total, b.bytes);
  }
  if (me + 1 < n) {
    auto to_above = peers.send(me + 1, b.total, b.bytes);
    co_await to_above;
  }
}

/// Every rank gets all totals and folds those below: ceil(log_ways n) rounds, for short vectors. Scratch: n *
/// bytes.
template <Network N, class Fold>
Task exscan_gather_all(N peers, PrefixBuffers b, Fold fold) {
  const int n = peers.size(), me = peers.rank();
  std::copy_n(b.total, b.bytes, b.scratch);
  auto gathered = allgather_bruck(peers, b.scratch, b.bytes);
  co_await gathered;
  const auto total_of = [&](int peer) { return b.scratch + bruck_place(peer, me, n) * b.bytes; };
  if (me > 0) std::copy_n(total_of(me - 1), b.bytes, b.prefix);
  for (int peer = me - 2; peer >= 0; --peer) fold(total_of(peer), b.prefix, b.bytes);
}

}  // namespace espalier::collective::multinode
