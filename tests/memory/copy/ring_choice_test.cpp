#include "memory/copy/ring_choice.hpp"

#include <gtest/gtest.h>

namespace espalier::memory {
namespace {

/// Stands still but for what copies take.
struct ClockOfCopies : std::chrono::steady_clock {
  static time_point now() { return ++looks, time; }
  inline static time_point time{};
  inline static int looks = 0;
};

class ARingChoice : public ::testing::Test {
 protected:
  using Choice = RingChoice<ClockOfCopies>;
  static constexpr std::size_t lines = 256;

  ARingChoice() { ClockOfCopies::looks = 0; }

  /// Makes so many copies; returns how many went to the short ring.
  int short_of(int copies) {
    int in_short = 0, copied = 0;
    for (int i = 0; i < copies; ++i) {
      const bool is_short = choice_.next();
      in_short += is_short;
      const bool streamed = choice_.timed(lines * 64, [&] {
        ++copied;
        ClockOfCopies::time += std::chrono::nanoseconds(is_short ? ns_a_line * lines : 1000 * lines);
        return streams;
      });
      EXPECT_EQ(streamed, streams);
    }
    EXPECT_EQ(copied, copies);
    return in_short;
  }
  /// Until it leaves the short ring: the second look follows the first at once.
  static constexpr int until_it_leaves = Choice::first_look + 2;
  static int looks() { return ClockOfCopies::looks / 2; }

  int ns_a_line = 1;
  bool streams = false;

 private:
  Choice choice_;
};

TEST_F(ARingChoice, IsTheShortOneWhileLinesComeFast) { EXPECT_EQ(short_of(10000), 10000); }

TEST_F(ARingChoice, DoesNotJudgeTheFirstWaysAround) {
  ns_a_line = 20;
  EXPECT_EQ(short_of(Choice::first_look), Choice::first_look);
  EXPECT_EQ(looks(), 0);
}

TEST_F(ARingChoice, LooksAtOneCopyOfSixteen) {
  short_of(Choice::first_look + 1 + 100 * Choice::look_at_one_of);
  EXPECT_EQ(looks(), 101);
}

TEST_F(ARingChoice, LeavesTheShortOneForAWhileWhereLinesComeSlowly) {
  ns_a_line = 20;
  short_of(until_it_leaves);
  EXPECT_EQ(short_of(Choice::shortest_absence), 0);
  ns_a_line = 1;
  EXPECT_EQ(short_of(1000), 1000);
}

TEST_F(ARingChoice, OneCopyThatWasDisturbedChangesNothing) {
  short_of(Choice::first_look);
  ns_a_line = 20;
  short_of(1);
  ns_a_line = 1;
  EXPECT_EQ(short_of(1000), 1000);
}

TEST_F(ARingChoice, StaysAwayLongerEachTime) {
  ns_a_line = 20;
  for (int absence = Choice::shortest_absence; absence <= Choice::longest_absence; absence *= 2) {
    EXPECT_EQ(short_of(until_it_leaves), until_it_leaves);
    EXPECT_EQ(short_of(absence), 0);
  }
  short_of(until_it_leaves);
  EXPECT_EQ(short_of(Choice::longest_absence), 0);
  EXPECT_EQ(short_of(1), 1);
}

TEST_F(ARingChoice, AFastLookEndsThat) {
  ns_a_line = 20;
  short_of(until_it_leaves + Choice::shortest_absence + Choice::first_look);
  ns_a_line = 1;
  short_of(1 + Choice::look_at_one_of - 1);
  ns_a_line = 20;
  short_of(2);
  EXPECT_EQ(short_of(Choice::shortest_absence), 0);
  EXPECT_EQ(short_of(1), 1);
}

TEST_F(ARingChoice, CopiesPastTheCachesGoToTheLongOne) {
  streams = true;
  short_of(until_it_leaves);
  EXPECT_EQ(short_of(Choice::shortest_absence), 0);
}

TEST_F(ARingChoice, TimesNothingInTheLongOne) {
  ns_a_line = 20;
  short_of(until_it_leaves);
  EXPECT_EQ(looks(), 2);
  short_of(Choice::shortest_absence);
  EXPECT_EQ(looks(), 2);
}

}  // namespace
}  // namespace espalier::memory
