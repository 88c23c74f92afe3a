// Bcasts between nodes, each by itself.
#include "collective/multinode/network/scatter_allgather.hpp"
#include "collective/multinode/network/tree.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/peers.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective::multinode {
namespace {

using network::Peers;
using testing::GuardedVector;

/// start(data, bytes, arrived) begins the bcast. `arrived` may only be true when the data are there.
template <class Start>
void expect_bcast(const Peers& peers, int root, std::size_t count, Start start) {
  const std::vector<double> wanted = testing::vector_of(root, count, 3);
  GuardedVector<double> data(count);
  if (peers.rank() == root) data.assign(wanted);
  bool arrived = false;
  const Task task = start(data.bytes(), data.size_bytes(), arrived);
  peers.drive_until([&] { return arrived || task.done(); });
  EXPECT_TRUE(arrived);
  EXPECT_EQ(data.values(), wanted) << "peer " << peers.rank() << " of " << peers.size() << ", root " << root;
  testing::drive(peers, task);
  EXPECT_EQ(data.values(), wanted) << "in the end, on peer " << peers.rank();
}

TEST(PeerBcast, DownEveryTreeFromEveryRoot) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (const char* tree : testing::tree_shapes)
      testing::on_peers(n, static_cast<std::uint64_t>(n), [&](const Peers& peers) {
        for (int root = 0; root < n; ++root) {
          const TreePosition position =
              testing::places_in(tree, n, root)[static_cast<std::size_t>(peers.rank())];
          for (const std::size_t count : {0, 1, 37})
            expect_bcast(peers, root, count, [&](std::byte* data, std::size_t bytes, bool& arrived) {
              return bcast_down(peers, position, data, bytes, arrived);
            });
        }
      });
}

TEST(PeerBcast, ByScatterAndAllgather) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      testing::on_peers(n, seed, [&](const Peers& peers) {
        for (const std::size_t count : testing::counts_for(n))
          expect_bcast(peers, 0, count, [&](std::byte* data, std::size_t bytes, bool& arrived) {
            return bcast_scatter_allgather(peers, data, bytes, arrived);
          });
      });
}

TEST(PeerBcast, ByScatterAndAllgatherOfAnyNumberOfBytes) {
  constexpr int n = 7;
  testing::on_peers(n, 1, [&](const Peers& peers) {
    for (std::size_t bytes = 0; bytes < 20; ++bytes) {
      testing::Guarded data(bytes);
      if (peers.rank() == 0)
        for (std::size_t i = 0; i < bytes; ++i) data.data()[i] = static_cast<std::byte>(i + 1);
      bool arrived = false;
      testing::drive(peers, bcast_scatter_allgather(peers, data.data(), bytes, arrived));
      for (std::size_t i = 0; i < bytes; ++i) EXPECT_EQ(data.data()[i], static_cast<std::byte>(i + 1));
    }
  });
}

}  // namespace
}  // namespace espalier::collective::multinode
