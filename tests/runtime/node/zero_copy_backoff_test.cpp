#include "runtime/node/zero_copy_backoff.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::runtime {
namespace {

std::vector<int> calls_that_ask(ZeroCopyBackoff& habit, int calls, bool answer) {
  std::vector<int> asking;
  for (int call = 0; call < calls; ++call)
    if (habit.asks()) {
      asking.push_back(call);
      EXPECT_EQ(habit.learn(answer), answer);
    }
  return asking;
}

TEST(ZeroCopyBackoff, WhoLendsIsAskedEveryTime) {
  ZeroCopyBackoff habit;
  EXPECT_EQ(calls_that_ask(habit, 5, true).size(), 5u);
}

TEST(ZeroCopyBackoff, WhoDoesNotIsAskedEverMoreRarely) {
  ZeroCopyBackoff habit;
  EXPECT_EQ(calls_that_ask(habit, 40, false), (std::vector<int>{0, 1, 3, 7, 15, 31}));
}

TEST(ZeroCopyBackoff, ButNeverForgotten) {
  ZeroCopyBackoff habit;
  calls_that_ask(habit, 100'000, false);
  EXPECT_GE(calls_that_ask(habit, 1024, false).size(), 1u);
}

TEST(ZeroCopyBackoff, AYesMakesUpForTheNosBefore) {
  ZeroCopyBackoff habit;
  calls_that_ask(habit, 16, false);
  while (!habit.asks()) {
  }
  habit.learn(true);
  EXPECT_EQ(calls_that_ask(habit, 8, false), (std::vector<int>{0, 1, 3, 7}));
}

}  // namespace
}  // namespace espalier::runtime
