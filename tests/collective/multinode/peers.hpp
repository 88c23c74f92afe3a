// Peers as threads on the hostile network: the algorithms between nodes, each by itself.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "collective/core/tree_position.hpp"
#include "network/endpoint.hpp"
#include "network/task.hpp"
#include "tests/network/mailboxes.hpp"
#include "tree/compose.hpp"

namespace espalier::testing {

/// Looks twice, then yields: there are more threads than cores.
inline constexpr network::SpinLimits oversubscribed_spin_limits = {2, 1 << 30};

/// Runs body(peers) for n peers at once, and expects that nothing is left over on the network. Peers, ranks
/// and processes are numbered differently, and there is a rank that is no peer and a process that is no rank.
inline void on_peers(int n, std::uint64_t seed, const std::function<void(const network::Peers&)>& body) {
  Mailboxes boxes(n + 2, seed, Mailboxes::InVain::sleeps);
  std::vector<int> processes, ranks;
  for (int rank = 0; rank <= n; ++rank) processes.push_back((rank + 2) % (n + 2));
  for (int peer = 0; peer < n; ++peer) ranks.push_back(n - peer);
  const auto run = [&](int peer) {
    const int rank = ranks[static_cast<std::size_t>(peer)];
    network::Endpoint end(boxes.of(processes[static_cast<std::size_t>(rank)]), processes, rank, 48,
                          oversubscribed_spin_limits);
    try {
      body({&end, ranks, peer, 3});
    } catch (const std::exception& error) {
      ADD_FAILURE() << "peer " << peer << " of " << n << ", seed " << seed << ": " << error.what();
    }
  };
  std::vector<std::thread> threads;
  for (int peer = 0; peer < n; ++peer) threads.emplace_back(run, peer);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(boxes.complaints(), std::vector<std::string>()) << n << " peers, seed " << seed;
}

inline void drive(const network::Peers& peers, const network::Task& task) {
  peers.drive_until([&task] { return task.done(); });
}

/// The places of n peers in a tree.
inline std::vector<collective::TreePosition> places_in(const char* tree, int n, int root) {
  const tree::Tree all = tree::compose(topology::flat_group(n), tree::parse_spec(tree), root);
  std::vector<collective::TreePosition> places;
  for (int peer = 0; peer < n; ++peer) places.push_back(collective::position_of(all, peer));
  return places;
}

inline constexpr int most_peers = 9;
inline constexpr const char* tree_shapes[] = {"knomial:2", "kary:2", "flat", "chain", "knomial:4 skew=right"};

/// Nothing, one, fewer than peers, odd, many.
inline std::vector<std::size_t> counts_for(int peers) {
  const auto n = static_cast<std::size_t>(peers);
  return {0, 1, n - 1, n, 2 * n + 1, 37, 1001};
}

}  // namespace espalier::testing
