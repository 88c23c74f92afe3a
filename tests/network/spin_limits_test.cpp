#include "network/spin_limits.hpp"

#include <gtest/gtest.h>

namespace espalier::network {
namespace {

TEST(SpinLimits, NapsAfterItsSpinsAndYields) {
  Wait wait({3, 5});
  for (int look = 0; look < 3 + 5; ++look) wait.pass();
  EXPECT_FALSE(wait.timed_sleeps());
  wait.pass();
  EXPECT_TRUE(wait.timed_sleeps());
}

TEST(SpinLimits, NapsAtOnceWhereItNeitherSpinsNorYields) {
  Wait wait({0, 0});
  wait.pass();
  EXPECT_TRUE(wait.timed_sleeps());
}

// Looks are quick under some hosts: a thousand of them took less than a message of a slow network.
TEST(SpinLimits, DoesNotNapBeforeItsTimeHoweverManyLooks) {
  Wait wait({1, 2, std::chrono::hours(1)});
  for (int look = 0; look < 100000; ++look) wait.pass();
  EXPECT_FALSE(wait.timed_sleeps());
}

TEST(SpinLimits, KeepsItsTimeWhereItNeedNotYield) {
  Wait wait({0, 0, std::chrono::milliseconds(1)});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!wait.timed_sleeps() && std::chrono::steady_clock::now() < deadline) wait.pass();
  EXPECT_TRUE(wait.timed_sleeps());
}

TEST(SpinLimits, DoesNotNapWhileOtherRanksMayNeedThisOne) {
  std::atomic<int> needs{1};
  Wait wait({0, 0, {}, &needs});
  for (int look = 0; look < 1000; ++look) wait.pass();
  EXPECT_FALSE(wait.timed_sleeps());
  needs = 0;
  wait.pass();
  EXPECT_TRUE(wait.timed_sleeps());
}

TEST(SpinLimits, BeginsAnewWhenSomethingWasThere) {
  Wait wait({0, 1});
  wait.pass();
  wait.pass();
  EXPECT_TRUE(wait.timed_sleeps());
  wait.begin_anew();
  wait.pass();
  EXPECT_FALSE(wait.timed_sleeps());
}

}  // namespace
}  // namespace espalier::network
