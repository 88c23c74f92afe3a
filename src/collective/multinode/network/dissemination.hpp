// Every rank hears from every rank, through others (HIER 3.4, between the nodes), in the n-way form of the
// dissemination barrier: several messages a round cost less than another round.
#pragma once

#include <vector>

#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// Done when all peers have begun it: ceil(log_p n) rounds of up to p - 1 messages, p = parts_a_round(n).
template <Network N>
Task disseminate(N peers) {
  const int n = peers.size(), me = peers.rank();
  for (int distance = 1; distance < n; distance *= parts_a_round(n)) {
    std::vector<decltype(peers.receive(0, nullptr, 0))> under_way;
    for (int way = 1; way < parts_a_round(n) && way * distance < n; ++way) {
      under_way.push_back(peers.receive(around(me - way * distance, n), nullptr, 0));
      under_way.push_back(peers.send(around(me + way * distance, n), nullptr, 0));
    }
    for (auto& message : under_way) co_await message;
  }
}

}  // namespace espalier::collective::multinode
