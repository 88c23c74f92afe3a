#include "collective/core/cells.hpp"

#include <gtest/gtest.h>

#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

/// Its ring: 8 slots of 4 KiB.
class CellsTest : public ::testing::Test {
 protected:
  Cells cells_of(std::size_t area, std::size_t count, std::size_t total, std::size_t head) {
    return {ranks_.machine(0), area, count, total, 1, head};
  }

 private:
  espalier::testing::Ranks ranks_{2};
};

// Copies from and to addresses apart from lines are half as fast.
TEST_F(CellsTest, LongBlocksBeginOnLinesBehindAHead) {
  const Cells cells = cells_of(32768, 1, 100000, 12);
  EXPECT_EQ(cells.head(), 64u);
  EXPECT_EQ(cells.cell(100000) % 64, 0u);
}

TEST_F(CellsTest, ShortBlocksLieRightBehindTheHead) {
  const Cells cells = cells_of(32768, 3, 24, 16);
  EXPECT_EQ(cells.head(), 16u);
  EXPECT_EQ(cells.cell(8), 8u);
}

TEST_F(CellsTest, HoldWholeBlocksInTheirRounds) {
  for (const std::size_t count : {1, 3, 15})
    for (const std::size_t block : {1, 64, 65, 1000, 4096, 100000})
      for (const std::size_t head : {0, 12, 64, 200})
        for (const std::size_t area : {1024, 4096, 32768}) {
          SCOPED_TRACE(::testing::Message()
                       << count << " blocks of " << block << ", head " << head << ", area " << area);
          const Cells cells = cells_of(area, count, count * block, head);
          EXPECT_GE(cells.head(), head);
          EXPECT_LE(cells.head() + count * cells.cell(block), static_cast<std::size_t>(cells.span()) * 4096);
          std::size_t carried = 0;
          for (std::size_t round = 0; round < cells.rounds(); ++round)
            carried += cells.part(block, round).bytes;
          EXPECT_EQ(carried, block);
        }
}

}  // namespace
}  // namespace espalier::collective
