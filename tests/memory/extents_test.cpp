#include "memory/extents.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace espalier::memory {
namespace {

TEST(Extents, TakesTheLowestThatFits) {
  Extents free(1000);
  EXPECT_EQ(free.take(100, 1), 0u);
  EXPECT_EQ(free.take(100, 1), 100u);
  EXPECT_EQ(free.take(100, 1), 200u);
  free.give_back(100, 100);
  EXPECT_EQ(free.take(101, 1), 300u);
  EXPECT_EQ(free.take(60, 1), 100u);
  EXPECT_EQ(free.take(40, 1), 160u);
}

TEST(Extents, AlignsAndKeepsWhatLiesBefore) {
  Extents free(1 << 20);
  EXPECT_EQ(free.take(1, 1), 0u);
  EXPECT_EQ(free.take(4096, 4096), 4096u);
  EXPECT_EQ(free.take(4095, 1), 1u);
}

TEST(Extents, NothingIsTakenThatIsNotThere) {
  Extents free(1000);
  EXPECT_FALSE(free.take(1001, 1));
  EXPECT_FALSE(free.take(1000, 1) != 0u);
  EXPECT_FALSE(free.take(1, 1));
  EXPECT_FALSE(Extents(100).take(50, 128) != 0u);
}

TEST(Extents, NeighboursGrowTogether) {
  Extents free(300);
  for (int i = 0; i < 3; ++i) free.take(100, 1);
  free.give_back(0, 100);
  free.give_back(200, 100);
  EXPECT_FALSE(free.take(101, 1));
  free.give_back(100, 100);
  EXPECT_EQ(free.take(300, 1), 0u);
}

// However it is used, nothing is handed out twice and nothing is lost.
TEST(Extents, AtRandom) {
  constexpr std::size_t all = 1 << 16;
  Extents free(all);
  std::map<std::size_t, std::size_t> taken;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0 || taken.empty()) {
      const std::size_t bytes = 1 + random() % 2000, alignment = std::size_t{1} << random() % 8;
      const auto offset = free.take(bytes, alignment);
      if (!offset) continue;
      ASSERT_EQ(*offset % alignment, 0u);
      ASSERT_LE(*offset + bytes, all);
      const auto behind = taken.lower_bound(*offset);
      ASSERT_TRUE(behind == taken.end() || behind->first >= *offset + bytes);
      ASSERT_TRUE(behind == taken.begin() || std::prev(behind)->first + std::prev(behind)->second <= *offset);
      taken[*offset] = bytes;
    } else {
      const auto gone = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      free.give_back(gone->first, gone->second);
      taken.erase(gone);
    }
  }
  for (const auto& [offset, bytes] : taken) free.give_back(offset, bytes);
  EXPECT_EQ(free.take(all, 1), 0u);
}

}  // namespace
}  // namespace espalier::memory
