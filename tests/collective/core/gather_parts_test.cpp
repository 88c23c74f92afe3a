#include "collective/core/gather_parts.hpp"

#include <gtest/gtest.h>

#include "tests/collective/trees.hpp"

namespace espalier::collective {
namespace {

TEST(RunsOf, JoinsNeighbours) {
  EXPECT_EQ(runs_of({}), RankRuns{});
  EXPECT_EQ(runs_of({4}), (RankRuns{{4, 5}}));
  EXPECT_EQ(runs_of({0, 1, 2, 5, 7, 8}), (RankRuns{{0, 3}, {5, 6}, {7, 9}}));
}

TEST(GatheringPosition, KnowsTheRanksBelow) {
  const testing::GatheringTrees trees(7, "kary:2", "flat");  // 0(1(3 4) 2(5 6))
  const TreePosition& root = trees.of(0).gather;
  EXPECT_EQ(root.subtree, (RankRuns{{0, 7}}));
  EXPECT_EQ(root.below, (std::vector<RankRuns>{{{1, 2}, {3, 5}}, {{2, 3}, {5, 7}}}));
  const TreePosition& leaf = trees.of(6).gather;
  EXPECT_EQ(leaf.subtree, (RankRuns{{6, 7}}));
  EXPECT_TRUE(leaf.below.empty());
}

TEST(PlaceInRuns, CountsWhatLiesBefore) {
  const RankRuns runs{{1, 2}, {3, 5}};
  const std::size_t edges[] = {0, 10, 13, 20, 21, 30};
  const auto edge = [&](int rank) { return edges[rank]; };
  EXPECT_EQ(bytes_of_runs(runs, edge), 3u + 10u);
  EXPECT_EQ(place_in_runs(runs, 1, edge), 0u);
  EXPECT_EQ(place_in_runs(runs, 3, edge), 3u);
  EXPECT_EQ(place_in_runs(runs, 4, edge), 4u);
}

}  // namespace
}  // namespace espalier::collective
