#include "runtime/process/tags.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace espalier::runtime {
namespace {

TEST(Tags, GivesTheLowestThatIsFree) {
  Tags tags(4);
  EXPECT_EQ(tags.take_from(0), 0);
  EXPECT_EQ(tags.take_from(0), 1);
  EXPECT_EQ(tags.take_from(3), 3);
  EXPECT_EQ(tags.take_from(0), 2);
  EXPECT_EQ(tags.take_from(0), std::nullopt) << "all are taken";
  tags.give_back(1);
  EXPECT_EQ(tags.take_from(2), std::nullopt) << "none from there on";
  EXPECT_EQ(tags.take_from(0), 1);
}

TEST(Tags, EachUseHasANumber) {
  Tags tags(1);
  const std::uint32_t first = tags.next_use();
  EXPECT_NE(tags.next_use(), first);
}

TEST(Tags, TakesABlockOnlyOnce) {
  Tags tags(3);
  EXPECT_TRUE(tags.take(2));
  EXPECT_FALSE(tags.take(2));
  EXPECT_EQ(tags.take_from(2), std::nullopt);
  tags.give_back(2);
  EXPECT_TRUE(tags.take(2));
  for (const int nowhere : {-1, 3, 1000}) EXPECT_FALSE(tags.take(nowhere)) << nowhere;
}

TEST(Tags, NoneAtAll) {
  for (const int blocks : {0, -5}) {
    Tags tags(blocks);
    EXPECT_EQ(tags.take_from(0), std::nullopt);
    EXPECT_FALSE(tags.take(0));
  }
}

TEST(Tags, AsManyAsAHostMayHave) {
  Tags tags(1 << 27);
  EXPECT_EQ(tags.take_from(1 << 20), 1 << 20);
  EXPECT_EQ(tags.take_from(0), 0);
  EXPECT_EQ(tags.take_from(1 << 27), std::nullopt);
}

TEST(Tags, ThreadsNeverGetTheSame) {
  constexpr int threads = 4, each = 500;
  Tags tags(threads * each);
  std::vector<std::vector<int>> taken(threads);
  std::vector<std::thread> all;
  for (auto& mine : taken)
    all.emplace_back([&tags, &mine] {
      for (int i = 0; i < each; ++i) {
        const auto block = tags.take_from(0);
        ASSERT_TRUE(block);
        mine.push_back(*block);
        if (i % 3 != 0) continue;
        tags.give_back(*block);
        const auto again = tags.take_from(0);
        ASSERT_TRUE(again);
        mine.back() = *again;
      }
    });
  for (auto& thread : all) thread.join();
  std::vector<int> blocks;
  for (const auto& mine : taken) blocks.insert(blocks.end(), mine.begin(), mine.end());
  std::sort(blocks.begin(), blocks.end());
  for (int i = 0; i < threads * each; ++i) ASSERT_EQ(blocks[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(tags.take_from(0), std::nullopt);
}

}  // namespace
}  // namespace espalier::runtime
