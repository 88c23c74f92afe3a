#include "memory/heap/kept_blocks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::memory {
namespace {

class KeptBlocksTest : public ::testing::Test {
 protected:
  void keep(int block, std::size_t length) {
    kept.keep(block, length, [this](int gone) { dropped.push_back(gone); });
  }
  KeptBlocks<int> kept{1000};
  std::vector<int> dropped;
};

TEST_F(KeptBlocksTest, TheLastOfASizeComesFirst) {
  keep(1, 100);
  keep(2, 100);
  EXPECT_EQ(kept.bytes(), 200u);
  EXPECT_EQ(kept.take(100), 2);
  EXPECT_EQ(kept.take(100), 1);
  EXPECT_EQ(kept.take(100), std::nullopt);
  EXPECT_EQ(kept.bytes(), 0u);
}

TEST_F(KeptBlocksTest, ABlockMayBeAnEighthLonger) {
  keep(1, 450);
  EXPECT_EQ(kept.take(451), std::nullopt);
  EXPECT_EQ(kept.take(399), std::nullopt);
  EXPECT_EQ(kept.take(400), 1);
}

TEST_F(KeptBlocksTest, ASizeThatHasBecomeEmptyHidesNoOther) {
  keep(1, 400);
  keep(2, 410);
  EXPECT_EQ(kept.take(400), 1);
  EXPECT_EQ(kept.take(400), 2);
}

TEST_F(KeptBlocksTest, BeyondTheBudgetTheOldestGoes) {
  keep(1, 400);
  keep(2, 100);
  keep(3, 400);
  EXPECT_TRUE(dropped.empty());
  keep(4, 200);
  EXPECT_EQ(dropped, std::vector{1});
  keep(5, 500);
  EXPECT_EQ(dropped, (std::vector{1, 2, 3}));
  EXPECT_EQ(kept.bytes(), 700u);
}

TEST_F(KeptBlocksTest, WhatIsLongerThanTheBudgetGoesAtOnce) {
  keep(1, 400);
  keep(2, 1001);
  EXPECT_EQ(dropped, std::vector{2});
  EXPECT_EQ(kept.bytes(), 400u);
}

TEST_F(KeptBlocksTest, AllAreVisitedAndDropped) {
  keep(1, 400);
  keep(2, 100);
  int sum = 0;
  kept.for_each([&](int block) { sum += block; });
  EXPECT_EQ(sum, 3);
  kept.drop_all([this](int gone) { dropped.push_back(gone); });
  EXPECT_EQ(dropped.size(), 2u);
  EXPECT_EQ(kept.bytes(), 0u);
  EXPECT_EQ(kept.take(400), std::nullopt);
}

}  // namespace
}  // namespace espalier::memory
