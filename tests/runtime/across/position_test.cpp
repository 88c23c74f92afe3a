#include "runtime/across/position.hpp"

#include <gtest/gtest.h>

namespace espalier::runtime::across {
namespace {

TEST(Positions, ARankMayBeAheadInAnyKind) {
  EXPECT_TRUE(are_in_one_order({2, 3, 1}, {2, 3, 1}));
  EXPECT_TRUE(are_in_one_order({2, 3, 1}, {5, 3, 2}));
  EXPECT_TRUE(are_in_one_order({5, 4, 2}, {2, 3, 1}));
}

// One has begun a nonblocking call first, the other one a blocking one.
TEST(Positions, AheadInOneKindAndBehindInAnotherIsADifferentOrder) {
  EXPECT_FALSE(are_in_one_order({2, 4, 1}, {3, 3, 1}));
  EXPECT_FALSE(are_in_one_order({2, 3, 2}, {3, 3, 1}));
  EXPECT_FALSE(are_in_one_order({2, 3, 2}, {2, 4, 1}));
}

}  // namespace
}  // namespace espalier::runtime::across
