#include "collective/core/grouped_exchange.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::collective {
namespace {

std::vector<int> targets_of(const Targets& targets, int k) {
  std::vector<int> ranks;
  targets.for_each(k, [&](int rank) { ranks.push_back(rank); });
  return ranks;
}

TEST(Targets, OfAFullGroupAndOfASmallerOne) {
  const RankGroups groups(11);  // 0-3, 4-7, 8-10
  const Targets full(groups, 1), smaller(groups, 2);
  EXPECT_EQ(targets_of(full, 1), (std::vector{1, 5, 9}));
  EXPECT_EQ(targets_of(full, 3), (std::vector{3, 7}));
  EXPECT_EQ(targets_of(smaller, 0), (std::vector{0, 3, 4, 7, 8}));
  EXPECT_EQ(targets_of(smaller, 2), (std::vector{2, 6, 10}));
}

// What writers, collectors and readers work out by themselves fits together.
TEST(Targets, EveryRankHasOneCollectorInEachGroup) {
  for (int ranks = 1; ranks <= 70; ++ranks) {
    const RankGroups groups(ranks);
    for (int group = 0; group < groups.count(); ++group) {
      const Targets targets(groups, group);
      int found = 0;
      for (int k = 0; k < targets.collectors(); ++k) {
        const std::vector<int> all = targets_of(targets, k);
        ASSERT_EQ(targets.count(k), static_cast<int>(all.size()));
        for (std::size_t i = 0; i < all.size(); ++i) {
          ASSERT_EQ(targets.collector_for(all[i]), k);
          ASSERT_EQ(targets.index_of(all[i]), static_cast<int>(i));
        }
        found += targets.count(k);
      }
      ASSERT_EQ(found, ranks);
    }
  }
}

}  // namespace
}  // namespace espalier::collective
