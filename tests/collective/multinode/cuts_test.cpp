// How nodes, vectors and peers are cut: placements, segments, slices, the core of a power of two.
#include <gtest/gtest.h>

#include <set>

#include "collective/multinode/network/power_of_two_core.hpp"
#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/placement.hpp"

namespace espalier::collective::multinode {
namespace {

TEST(Placement, NodesAreNumberedByTheirLowestRank) {
  const Placement p = place_by<std::uint64_t>({70, 5, 70, 9, 5, 5});
  EXPECT_EQ(p.ranks(), 6);
  EXPECT_EQ(p.nodes(), 3);
  EXPECT_EQ(p.ranks_of, (std::vector<std::vector<int>>{{0, 2}, {1, 4, 5}, {3}}));
  EXPECT_EQ(p.node_of, (std::vector<int>{0, 1, 0, 2, 1, 1}));
  EXPECT_EQ(p.local_rank_of, (std::vector<int>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(p.largest(), 3u);
  EXPECT_EQ(p.smallest(), 1u);
}

TEST(Placement, IsConsecutiveWhereNodesFollowOnEachOther) {
  EXPECT_TRUE(place_by<int>({4, 4, 4}).is_consecutive());
  EXPECT_TRUE(place_by<int>({4, 4, 1, 9, 9}).is_consecutive());
  EXPECT_FALSE(place_by<int>({4, 1, 4}).is_consecutive());
  EXPECT_FALSE(place_by<int>({0, 1, 2, 0, 1, 2}).is_consecutive());
}

TEST(Segments, CoverAMessageInWholeElements) {
  for (const std::size_t grain : {1, 4, 8, 12, 16})
    for (const std::size_t segment : {1, 64, 100, 4096})
      for (std::size_t elements = 0; elements < 700; elements += elements < 20 ? 1 : 67) {
        const Segments cut(elements * grain, segment, grain);
        std::size_t next = 0;
        for (std::size_t i = 0; i < cut.count(); ++i) {
          EXPECT_EQ(cut.offset(i), next);
          EXPECT_GT(cut.bytes(i), 0u);
          EXPECT_EQ(cut.bytes(i) % grain, 0u);
          EXPECT_LE(cut.bytes(i), cut.longest());
          EXPECT_LE(cut.bytes(i), std::max(segment, grain));
          next += cut.bytes(i);
        }
        EXPECT_EQ(next, elements * grain);
      }
}

TEST(Slices, CoverAVectorAndDifferByAnElementAtMost) {
  for (int count = 1; count <= 9; ++count)
    for (std::size_t elements = 0; elements < 40; ++elements) {
      const Slices slices(elements * 8, 8, count);
      EXPECT_EQ(slices.begin(0), 0u);
      EXPECT_EQ(slices.begin(count), elements * 8);
      std::set<std::size_t> sizes;
      for (int i = 0; i < count; ++i) sizes.insert(slices.bytes(i));
      EXPECT_LE(*sizes.rbegin() - *sizes.begin(), 8u) << elements << " elements among " << count;
      EXPECT_EQ(slices.bytes(0, count), elements * 8);
    }
}

TEST(Core, IsAPowerOfTwoWithAPartnerForEverybodyElse) {
  for (int peers = 1; peers <= 33; ++peers) {
    std::set<int> numbers;
    for (int peer = 0; peer < peers; ++peer) {
      const Core core(peer, peers);
      EXPECT_LE(core.size(), peers);
      EXPECT_GT(2 * core.size(), peers);
      if (core.holds_me()) {
        EXPECT_TRUE(numbers.insert(core.number()).second);
        EXPECT_EQ(core.peer_of(core.number()), peer);
      }
      if (!core.is_paired()) continue;
      const Core partner(core.partner(), peers);
      EXPECT_EQ(partner.partner(), peer);
      EXPECT_NE(partner.holds_me(), core.holds_me());
    }
    EXPECT_EQ(static_cast<int>(numbers.size()), Core(0, peers).size());
    EXPECT_EQ(*numbers.rbegin(), Core(0, peers).size() - 1);
    EXPECT_TRUE(Core(0, peers).holds_me() && Core(0, peers).number() == 0);
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
