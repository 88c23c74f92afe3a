// Exscans between nodes, each by itself.
#include <map>
#include <mutex>

#include "collective/multinode/network/prefix.hpp"
#include "tests/collective/affine.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/peers.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective::multinode {
namespace {

using network::Peers;
using testing::Affine;
using testing::GuardedVector;

/// Both, with the same sort of fold.
template <class Fold>
Task start(const Peers& peers, bool chain, const PrefixBuffers& buffers, Fold fold) {
  return chain ? exscan_chain(peers, buffers, fold) : exscan_doubling(peers, buffers, fold);
}

/// What a peer gets; nothing at peer 0, whose buffer is left alone.
template <class T, class Fold>
std::vector<T> run(const Peers& peers, bool chain, const std::vector<T>& values, Fold fold) {
  GuardedVector<T> total(values), prefix(values.size()), scratch(values.size());
  testing::drive(
      peers, start(peers, chain, {total.bytes(), prefix.bytes(), scratch.bytes(), total.size_bytes()}, fold));
  if (peers.rank() > 0) return prefix.values();
  EXPECT_TRUE(prefix.is_untouched());
  return {};
}

template <class T>
auto sum_right() {
  return [](const std::byte* left, std::byte* right, std::size_t bytes) {
    const auto type = sizeof(T) == 4 ? reduce::Type::float32 : reduce::Type::float64;
    fold(*reduce::find(reduce::Op::sum, type), right, left, right, bytes);
  };
}

void compose_right(const std::byte* left, std::byte* right, std::size_t bytes) {
  testing::Length length{bytes / sizeof(Affine)};
  if (bytes > 0) testing::combine_affine(&length, left, right);
}

class PeerExscan : public ::testing::TestWithParam<bool> {};

TEST_P(PeerExscan, IsTheSumOfAllBelow) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      testing::on_peers(n, seed, [&](const Peers& peers) {
        for (const std::size_t count : testing::counts_for(n)) {
          const auto got =
              run(peers, GetParam(), testing::vector_of(peers.rank(), count, 2), sum_right<double>());
          if (peers.rank() > 0) {
            EXPECT_EQ(got, testing::sum_of(peers.rank(), count, 2)) << "peer " << peers.rank() << " of " << n;
          }
        }
      });
}

TEST_P(PeerExscan, KeepsTheOrder) {
  for (int n = 1; n <= testing::most_peers; ++n)
    testing::on_peers(n, static_cast<std::uint64_t>(n), [&](const Peers& peers) {
      for (const std::size_t count : {1, 20}) {
        const auto got = run(peers, GetParam(), testing::maps_of(peers.rank(), count), compose_right);
        if (peers.rank() > 0) {
          EXPECT_EQ(got, testing::composed(0, peers.rank() - 1, count))
              << "peer " << peers.rank() << " of " << n;
        }
      }
    });
}

TEST_P(PeerExscan, GivesTheSameBitsUnderEverySeed) {
  std::map<int, std::vector<float>> first;
  std::mutex mutex;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    testing::on_peers(testing::most_peers, seed, [&](const Peers& peers) {
      const auto got = run(peers, GetParam(), testing::floats_of(peers.rank(), 37), sum_right<float>());
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(testing::same_bits(got, first.try_emplace(peers.rank(), got).first->second))
          << "peer " << peers.rank() << ", seed " << seed;
    });
}

INSTANTIATE_TEST_SUITE_P(Nodes, PeerExscan, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "chain" : "doubling"; });

}  // namespace
}  // namespace espalier::collective::multinode
