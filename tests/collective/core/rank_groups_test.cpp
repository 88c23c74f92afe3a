#include "collective/core/rank_groups.hpp"

#include <gtest/gtest.h>

namespace espalier::collective {
namespace {

TEST(RankGroups, HoldEveryRankOnce) {
  for (int ranks = 1; ranks <= 300; ++ranks) {
    const RankGroups groups(ranks);
    int next = 0;
    for (int group = 0; group < groups.count(); ++group) {
      EXPECT_EQ(groups.first(group), next);
      EXPECT_LT(groups.first(group), groups.end(group)) << "an empty group of " << ranks;
      for (; next < groups.end(group); ++next) EXPECT_EQ(groups.group_of(next), group);
    }
    EXPECT_EQ(next, ranks);
  }
}

TEST(RankGroups, AreAboutAsManyAsTheirRanks) {
  const auto shape = [](int ranks) {
    const RankGroups groups(ranks);
    return std::pair(groups.count(), groups.end(0));
  };
  EXPECT_EQ(shape(2), std::pair(1, 2));
  EXPECT_EQ(shape(16), std::pair(4, 4));
  EXPECT_EQ(shape(17), std::pair(3, 8));
  EXPECT_EQ(shape(40), std::pair(5, 8));
  EXPECT_EQ(shape(56), std::pair(7, 8));
  EXPECT_EQ(shape(64), std::pair(8, 8));
  EXPECT_EQ(shape(128), std::pair(8, 16));
}

TEST(RankGroups, ComeAround) {
  const RankGroups groups(40);
  EXPECT_EQ(groups.behind(3, 0), 3);
  EXPECT_EQ(groups.behind(3, 1), 4);
  EXPECT_EQ(groups.behind(3, 2), 0);
}

}  // namespace
}  // namespace espalier::collective
