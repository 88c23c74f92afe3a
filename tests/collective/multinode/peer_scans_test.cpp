// Scans of nodes whose ranks are mixed, by their leaders alone.
#include "collective/multinode/scan_any_order.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/peers.hpp"

namespace espalier::collective::multinode {
namespace {

using network::Peers;
using testing::Guarded;

const std::vector<std::vector<int>> mixed_placements = {{0},
                                                        {0, 0, 0},
                                                        {0, 1},
                                                        {0, 1, 0, 1, 0},
                                                        {0, 1, 1, 0},
                                                        {0, 1, 2, 0, 1, 2, 0},
                                                        {0, 1, 0, 2, 2, 2, 1},
                                                        {0, 1, 2, 3, 4},
                                                        {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 4}};

/// The vectors of this leader's ranks, one after the other, and the room that scan_any_order makes for it.
struct Leader {
  Leader(const Placement& placement, int node, std::size_t elements, plan::Algorithm algorithm)
      : ranks(placement.ranks_of[static_cast<std::size_t>(node)]),
        count(elements),
        sizes(any_order_room(placement, count * sizeof(float), sizeof(float), algorithm)),
        vectors(sizes.vectors),
        scratch(sizes.scratch) {
    for (std::size_t i = 0; i < ranks.size() && count > 0; ++i)
      std::memcpy(vector(i), testing::floats_of(ranks[i], count).data(), count * sizeof(float));
  }
  std::byte* vector(std::size_t i) { return vectors.data() + i * count * sizeof(float); }
  std::vector<float> values(std::size_t i) {
    std::vector<float> result(count);
    if (count > 0) std::memcpy(result.data(), vector(i), count * sizeof(float));
    return result;
  }
  const std::vector<int>& ranks;
  std::size_t count;
  AnyOrderRoom sizes;
  Guarded vectors, scratch;
};

void expect_scan(const Peers& peers, const Placement& placement, std::size_t count, Prefix prefix,
                 plan::Algorithm algorithm) {
  Leader leader(placement, peers.rank(), count, algorithm);
  const LeaderScan scan = {placement,
                           *reduce::find(reduce::Op::sum, reduce::Type::float32),
                           prefix,
                           leader.vectors.data(),
                           count * sizeof(float),
                           leader.scratch.data()};
  testing::drive(peers, algorithm == plan::Algorithm::gather_all ? scan_gather_all(peers, scan)
                                                                 : scan_transpose(peers, scan));
  for (std::size_t i = 0; i < leader.ranks.size(); ++i) {
    const int last = leader.ranks[i] - (prefix == Prefix::exclusive ? 1 : 0);
    if (last < 0) continue;  // exscan says nothing about rank 0
    EXPECT_TRUE(testing::same_bits(leader.values(i), testing::sum_in_order(0, last, count)))
        << "rank " << leader.ranks[i] << " of " << placement.ranks() << ", " << count << " elements";
  }
}

class PeerScan : public ::testing::TestWithParam<plan::Algorithm> {};

TEST_P(PeerScan, FoldsFromRankZeroUpWhateverTheNodes) {
  for (const std::vector<int>& keys : mixed_placements) {
    const Placement placement = place_by(keys);
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      testing::on_peers(placement.nodes(), seed, [&](const Peers& peers) {
        for (const std::size_t count : {0, 1, 2, 8, 37, 500})
          for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive})
            expect_scan(peers, placement, count, prefix, GetParam());
      });
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, PeerScan,
                         ::testing::Values(plan::Algorithm::gather_all, plan::Algorithm::transpose),
                         [](const auto& one) {
                           return one.param == plan::Algorithm::transpose ? "transpose" : "gather_all";
                         });

}  // namespace
}  // namespace espalier::collective::multinode
