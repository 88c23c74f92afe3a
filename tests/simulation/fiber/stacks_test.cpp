#include "simulation/fiber/stacks.hpp"

#include <gtest/gtest.h>

#include "simulation/fiber/fiber.hpp"

namespace espalier::simulation {
namespace {

TEST(Stacks, LieApartAndAreRoundedToPages) {
  const Stacks stacks(3, 5000);
  EXPECT_EQ(stacks.at(0).size(), 8192u);
  EXPECT_EQ(stacks.at(1).data(), stacks.at(0).data() + 8192);
}

TEST(Stacks, ACanaryShowsWhatRanOver) {
  const Stacks stacks(2, 4096);
  EXPECT_TRUE(stacks.is_intact(0));
  stacks.at(1)[0] = std::byte{1};
  EXPECT_TRUE(stacks.is_intact(0));
  EXPECT_FALSE(stacks.is_intact(1));
}

// Far more than a process has mappings for guard pages.
TEST(Stacks, AHundredThousandFibersRunAtOnce) {
  constexpr std::size_t count = 100'000;
  const Stacks stacks(count, 16 * 1024);
  std::vector<Fiber> fibers(count);
  std::size_t begun = 0, ended = 0;
  for (std::size_t i = 0; i < count; ++i) {
    fibers[i].start(stacks.at(i), [&, i] {
      ++begun;
      fibers[i].pause();
      ++ended;
    });
    fibers[i].resume();
  }
  EXPECT_EQ(begun, count);
  EXPECT_EQ(ended, 0u);
  for (Fiber& fiber : fibers) fiber.resume();
  EXPECT_EQ(ended, count);
  EXPECT_TRUE(fibers.back().is_done());
}

}  // namespace
}  // namespace espalier::simulation
