#include "base/ticks.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace espalier {
namespace {

TEST(Ticks, NeverGoBackOnAThread) {
  ticks::seconds_per_tick();
  std::uint64_t last = ticks::now();
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t next = ticks::now();
    ASSERT_GE(next, last);
    last = next;
  }
}

// Both clocks see the same sleep, so however late it ends they agree.
TEST(Ticks, AreAsLongAsTheySay) {
  const double length = ticks::seconds_per_tick();
  EXPECT_GT(length, 0);
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t first = ticks::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::uint64_t last = ticks::now();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  const double measured = static_cast<double>(last - first) * length;
  EXPECT_LE(measured, time.count() * 1.02 + 1e-4);
  EXPECT_GE(measured, 0.05 * 0.98);
}

}  // namespace
}  // namespace espalier
