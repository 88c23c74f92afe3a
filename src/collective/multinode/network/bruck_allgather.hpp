// All blocks to all peers in ceil(log_p n) rounds of p parts, whatever n is (Bruck's allgather, with several
// partners a round). With it short vectors are reduced in rank order, everywhere alike.
#pragma once

#include <vector>

#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// Where peer `other`'s block lies after allgather_bruck.
inline std::size_t bruck_place(int other, int me, int n) {
  return static_cast<std::size_t>(around(other - me, n));
}

/// `blocks`: room for n blocks of `bytes`, the own one first; afterwards the peers' follow, going round.
template <Network N>
Task allgather_bruck(N peers, std::byte* blocks, std::size_t bytes) {
  const int n = peers.size(), me = peers.rank();
  for (int distance = 1; distance < n; distance *= parts_a_round(n)) {
    std::vector<decltype(peers.receive(0, blocks, bytes))> under_way;
    for (int way = 1; way < parts_a_round(n) && way * distance < n; ++way) {
      const int first = way * distance;
      const std::size_t some = static_cast<std::size_t>(std::min(distance, n - first)) * bytes;
      under_way.push_back(
          peers.receive(around(me + first, n), blocks + static_cast<std::size_t>(first) * bytes, some));
      under_way.push_back(peers.send(around(me - first, n), blocks, some));
    }
    for (auto& message : under_way) co_await message;
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
  sources.reserve(static_cast<std::size_t>(n));
  for (int peer = 0; peer < n; ++peer) sources.push_back(v.scratch + bruck_place(peer, me, n) * v.bytes);
  v.operation.kernel(v.data, sources.data(), n, v.bytes / v.operation.extent);
}

}  // namespace espalier::collective::multinode
