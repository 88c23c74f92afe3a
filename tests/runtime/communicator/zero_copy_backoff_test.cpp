#include "runtime/communicator/zero_copy_backoff.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::runtime {
namespace {

std::vector<int> calls_that_ask(LendingHabit& habit, int calls, bool answer) {
  std::vector<int> asking;
  for (int call = 0; call < calls; ++call)
    if (habit.asks()) {
      asking.push_back(call);
      EXPECT_EQ(habit.learn(answer), answer);
    }
  return asking;
}

TEST(LendingHabit, WhoLendsIsAskedEveryTime) {
  LendingHabit habit;
  EXPECT_EQ(calls_that_ask(habit, 5, true).size(), 5u);
}

TEST(LendingHabit, WhoDoesNotIsAskedEverMoreRarely) {
  LendingHabit habit;
  EXPECT_EQ(calls_that_ask(habit, 40, false), (std::vector<int>{0, 1, 3, 7, 15, 31}));
}

TEST(LendingHabit, ButNeverForgotten) {
  LendingHabit habit;
  calls_that_ask(habit, 100'000, false);
  EXPECT_GE(calls_that_ask(habit, 1024, false).size(), 1u);
}

TEST(LendingHabit, AYesMakesUpForTheNosBefore) {
  LendingHabit habit;
  calls_that_ask(habit, 16, false);
  while (!habit.asks()) {
  }
  habit.learn(true);
  EXPECT_EQ(calls_that_ask(habit, 8, false), (std::vector<int>{0, 1, 3, 7}));
}

}  // namespace
}  // namespace espalier::runtime
