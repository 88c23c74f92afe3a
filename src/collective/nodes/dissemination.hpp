// Everybody hears from everybody, through others, in ceil(log2 n) rounds (HIER 3.4, between the nodes).
#pragma once

#include "collective/nodes/vector.hpp"

namespace espalier::collective::nodes {

/// Done when all peers have begun it.
template <Network N>
Task disseminate(N peers) {
  const int n = peers.size();
  for (int distance = 1; distance < n; distance *= 2) {
    auto from_below = peers.receive(around(peers.rank() - distance, n), nullptr, 0);
    auto to_above = peers.send(around(peers.rank() + distance, n), nullptr, 0);
    co_await from_below;
    co_await to_above;
  }
}

}  // namespace espalier::collective::nodes
