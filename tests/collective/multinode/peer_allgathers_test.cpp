#include "collective/multinode/network/allgather_between.hpp"

#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/peers.hpp"
#include "tests/collective/multinode/uneven.hpp"

namespace espalier::collective::multinode {
namespace {

/// body(peers, whole, edges): every peer begins with its own part, and must end with all.
template <class Body>
void expect_all_everywhere(int n, const std::vector<std::size_t>& counts, std::uint64_t seed, Body body) {
  std::vector<std::size_t> edges = {0};
  std::vector<double> wanted;
  for (int peer = 0; peer < n; ++peer) {
    const auto part = testing::vector_of(peer, counts[static_cast<std::size_t>(peer)], 3);
    wanted.insert(wanted.end(), part.begin(), part.end());
    edges.push_back(wanted.size() * sizeof(double));
  }
  testing::on_peers(n, seed, [&](const network::Peers& peers) {
    testing::GuardedVector<double> whole(wanted.size());
    const std::size_t begin = edges[static_cast<std::size_t>(peers.rank())],
                      end = edges[static_cast<std::size_t>(peers.rank()) + 1];
    if (end > begin) std::memcpy(whole.bytes() + begin, wanted.data() + begin / sizeof(double), end - begin);
    testing::drive(peers, body(peers, whole.bytes(), edges));
    EXPECT_EQ(whole.values(), wanted) << "peer " << peers.rank() << " of " << n;
  });
}

TEST(PeerAllgathers, DisseminationWhateverEachHas) {
  for (int n = 1; n <= 19; n += n < 9 ? 1 : 5)
    for (const auto& distribution : testing::distributions(n, 5)) {
      SCOPED_TRACE(distribution.name);
      expect_all_everywhere(n, distribution.counts, static_cast<std::uint64_t>(n),
                            [](const network::Peers& peers, std::byte* whole, const auto& edges) {
                              return allgather_disseminated(peers, whole, edges);
                            });
    }
}

TEST(PeerAllgathers, AroundTheRingInBlocksOfAnySize) {
  for (const int n : {1, 2, 3, 5, 8})
    for (const auto& distribution : testing::distributions(n, 40))
      for (const std::size_t block : {24, 1000, 100000}) {
        SCOPED_TRACE(distribution.name);
        expect_all_everywhere(n, distribution.counts, block,
                              [&](const network::Peers& peers, std::byte* whole, const auto& edges) {
                                return allgather_around(peers, whole, RingBlocks(edges, block, 1), 0, [] {});
                              });
      }
}

TEST(PeerAllgathers, AShareOnlyMovesItsBlocks) {
  constexpr int n = 4, carriers = 3;
  const std::vector<std::size_t> edges = {0, 1000, 1100, 1100, 2400};
  for (int carrier = 0; carrier < carriers; ++carrier)
    testing::on_peers(n, 7, [&](const network::Peers& peers) {
      const RingBlocks blocks(edges, 100, carriers);
      testing::Guarded whole(edges.back());
      std::size_t told = 0;
      std::fill_n(whole.data(), whole.size(), std::byte{0});
      for (std::size_t i = edges[static_cast<std::size_t>(peers.rank())];
           i < edges[static_cast<std::size_t>(peers.rank()) + 1]; ++i)
        whole.data()[i] = static_cast<std::byte>(i % 251 + 1);
      testing::drive(peers, allgather_around(peers, whole.data(), blocks, carrier, [&] { ++told; }));
      EXPECT_EQ(told, detail::coming_blocks(blocks, peers.rank(), carrier).size());
      for (int node = 0; node < n; ++node)
        for (std::size_t b = 0; b < blocks.count(node); ++b) {
          const RingBlocks::Share share = blocks.share(node, carrier);
          const bool here = node == peers.rank() || (b >= share.first && b < share.first + share.count);
          const Stretch s = blocks.block(node, b);
          for (std::size_t i = s.offset; i < s.offset + s.bytes; ++i)
            ASSERT_EQ(whole.data()[i], here ? static_cast<std::byte>(i % 251 + 1) : std::byte{0})
                << "byte " << i << " at peer " << peers.rank() << ", carrier " << carrier;
        }
    });
}

}  // namespace
}  // namespace espalier::collective::multinode
