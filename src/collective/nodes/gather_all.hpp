// All blocks to all peers in ceil(log2 n) rounds, whatever n is (Bruck's allgather). With it short vectors
// are reduced in rank order, everywhere alike.
#pragma once

#include <vector>

#include "collective/nodes/vector.hpp"

namespace espalier::collective::nodes {

/// Where peer `other`'s block lies after allgather_bruck.
inline std::size_t bruck_place(int other, int me, int n) {
  return static_cast<std::size_t>(around(other - me, n));
}

/// `blocks`: room for n blocks of `bytes`, the own one first; afterwards the peers' follow, going round.
template <Network N>
Task allgather_bruck(N peers, std::byte* blocks, std::size_t bytes) {
  const int n = peers.size(), me = peers.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    const std::size_t some = static_cast<std::size_t>(std::min(distance, n - distance)) * bytes;
    auto from_above =
        peers.receive(around(me + distance, n), blocks + static_cast<std::size_t>(distance) * bytes, some);
    auto to_below = peers.send(around(me - distance, n), blocks, some);
    co_await from_above;
    co_await to_below;
  }
}

/// Scratch: n * bytes.
template <Network N>
Task allreduce_gather_all(N peers, Vector v) {
  const int n = peers.size(), me = peers.rank();
  std::copy_n(v.data, v.bytes, v.scratch);
  auto gathered = allgather_bruck(peers, v.scratch, v.bytes);
  co_await gathered;
  std::vector<const void*> sources;
  for (int peer = 0; peer < n; ++peer) sources.push_back(v.scratch + bruck_place(peer, me, n) * v.bytes);
  v.operation.kernel(v.data, sources.data(), n, v.bytes / v.operation.extent);
}

}  // namespace espalier::collective::nodes
