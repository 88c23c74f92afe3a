#include "runtime/levels/levels_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "memory/flag_line.hpp"
#include "tests/memory/children.hpp"

namespace espalier::runtime {
namespace {

/// Watches of some ranks over one piece of memory.
class Watches : public ::testing::Test {
 protected:
  LevelsWatch of(std::size_t rank, ProcessMark second = own_mark()) {
    return {reinterpret_cast<std::byte*>(lines.data()), rank, {own_mark(), second, own_mark()}, {5, 6, 7}};
  }
  /// Long enough to look at every rank; what was thrown.
  static std::string look_long(LevelsWatch& watch) { return look_for(watch, std::chrono::milliseconds(400)); }
  /// Until something is thrown: a busy machine may let a thread look but seldom.
  static std::string look_until_told(LevelsWatch& watch) { return look_for(watch, std::chrono::seconds(30)); }
  static std::string look_for(LevelsWatch& watch, std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    try {
      while (std::chrono::steady_clock::now() < end) watch.look();
    } catch (const OutOfStep& error) {
      return error.what();
    }
    return "";
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

  std::vector<memory::FlagLine> lines{LevelsWatch::bytes(3) / sizeof(memory::FlagLine) + 1};
};

TEST_F(Watches, ARankThatWaitsForRanksThatRunGoesOnWaiting) {
  LevelsWatch watch = of(0);
  watch.begin(1);
  EXPECT_EQ(look_long(watch), "");
}

TEST_F(Watches, WhoLeavesBeforeItsPartIsNamed) {
  LevelsWatch watch = of(0), other = of(1);
  watch.begin(1);
  other.leave();
  EXPECT_TRUE(has(look_until_told(watch), "rank 6 has freed its levels"));
  LevelsWatch third = of(2);
  EXPECT_THROW(third.begin(1), OutOfStep) << "all hear of it";
}

TEST_F(Watches, WhoLeavesAfterItsPartIsNotMissed) {
  LevelsWatch watch = of(0), other = of(1);
  other.begin(1);
  other.end();
  other.leave();
  watch.begin(1);
  EXPECT_EQ(look_long(watch), "");
  watch.end();
  watch.begin(2);
  EXPECT_TRUE(has(look_until_told(watch), "rank 6 has freed its levels"));
}

TEST_F(Watches, OutsideOfTraversalsWhoHasLeftIsMissing) {
  LevelsWatch watch = of(0), other = of(1);
  other.begin(1);
  other.end();
  watch.begin(1);
  watch.end();
  EXPECT_EQ(look_long(watch), "");
  other.leave();
  EXPECT_TRUE(has(look_until_told(watch), "rank 6"));
}

TEST_F(Watches, AProcessThatHasEndedIsNamed) {
  int marks[2], hold[2];
  ASSERT_TRUE(pipe(marks) == 0 && pipe(hold) == 0);
  const pid_t child = testing::fork_child([&] {
    const ProcessMark mark = own_mark();
    EXPECT_EQ(write(marks[1], &mark, sizeof mark), static_cast<ssize_t>(sizeof mark));
    close(hold[1]);
    char byte;
    return read(hold[0], &byte, 1) == 0 ? 0 : 1;  // until the parent closes its end
  });
  ProcessMark mark{};
  ASSERT_EQ(read(marks[0], &mark, sizeof mark), static_cast<ssize_t>(sizeof mark));
  LevelsWatch watch = of(0, mark);
  watch.begin(1);
  EXPECT_EQ(look_long(watch), "");
  close(hold[1]);
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(has(look_until_told(watch), "rank 6 has ended"));
}

TEST_F(Watches, AFailureCountsFromItsTraversalOn) {
  LevelsWatch watch = of(0), ahead = of(1);
  ahead.begin(1);
  ahead.end();
  ahead.begin(2);
  ahead.tell("the base case returned 3");
  watch.begin(1);
  EXPECT_EQ(look_long(watch), "") << "its part of the first traversal was done";
  watch.end();
  EXPECT_THROW(watch.begin(2), OutOfStep);
  EXPECT_TRUE(has(watch.told(2), "returned 3"));
  EXPECT_EQ(watch.told(1), "");
}

}  // namespace
}  // namespace espalier::runtime
