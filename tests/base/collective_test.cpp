#include "base/collective.hpp"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(CollectiveSet, HasWhatItWasMadeOf) {
  using enum Collective;
  constexpr CollectiveSet some = {barrier, scan, neighbor_alltoallw};
  for (const Collective each : all_collectives)
    EXPECT_EQ(some.contains(each), each == barrier || each == scan || each == neighbor_alltoallw)
        << to_string(each);
  EXPECT_FALSE(CollectiveSet({}).contains(barrier));
}

}  // namespace
}  // namespace espalier
