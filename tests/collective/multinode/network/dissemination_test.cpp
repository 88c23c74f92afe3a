#include "collective/multinode/network/dissemination.hpp"

#include <atomic>

#include "tests/collective/multinode/peers.hpp"

namespace espalier::collective::multinode {
namespace {

TEST(Dissemination, NobodyLeavesBeforeAllHaveCome) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      constexpr int rounds = 12;
      std::array<std::atomic<int>, rounds> came{};
      testing::on_peers(n, seed, [&](const network::Peers& peers) {
        for (int round = 0; round < rounds; ++round) {
          // Another one is late in each round, and the others may not leave without it.
          for (int i = 0; peers.rank() == round % n && i < 300; ++i) {
            peers.endpoint->drive();
            std::this_thread::yield();
          }
          auto& here = came[static_cast<std::size_t>(round)];
          ++here;
          testing::drive(peers, disseminate(peers));
          EXPECT_EQ(here.load(), n) << "peer " << peers.rank() << " left too early, seed " << seed;
        }
      });
    }
}

}  // namespace
}  // namespace espalier::collective::multinode
