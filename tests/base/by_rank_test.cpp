#include "base/by_rank.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <span>

namespace espalier {
namespace {

TEST(ByRank, HoldsAsManyValuesAsItIsMadeFor) {
  for (const std::size_t entries : {0, 1, 33, 34, 1000}) {
    ByRank<std::size_t> values(entries);
    std::iota(values.begin(), values.end(), std::size_t{1});
    const std::span<const std::size_t> all = values;
    ASSERT_EQ(all.size(), entries);
    for (std::size_t i = 0; i < entries; ++i) EXPECT_EQ(all[i], i + 1) << "of " << entries;
  }
}

TEST(ByRank, OfFewRanksLiesInItself) {
  ByRank<int> few(33), many(34);
  const auto lies_in = [](const ByRank<int>& values) {
    const auto* begin = reinterpret_cast<const char*>(&values);
    const auto* first = reinterpret_cast<const char*>(values.begin());
    return first >= begin && first < begin + sizeof values;
  };
  EXPECT_TRUE(lies_in(few));
  EXPECT_FALSE(lies_in(many));
}

}  // namespace
}  // namespace espalier
