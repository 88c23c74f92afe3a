#include "simulation/checker/choices.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/error.hpp"

namespace espalier::simulation::checker {
namespace {

constexpr std::array two = {0, 1};
constexpr std::array three = {0, 1, 2};

TEST(Trace, IsReadAsItIsPrinted) {
  const Trace trace = {0, 0, 0, 1, 2, 2, 0};
  EXPECT_EQ(print(trace), "3ab2ca");
  EXPECT_EQ(parse_trace("3ab2ca"), trace);
  EXPECT_EQ(parse_trace(""), Trace());
}

TEST(Trace, OtherTextIsRefused) {
  EXPECT_THROW(parse_trace("3A"), Error);
  EXPECT_THROW(parse_trace("99999999a"), Error);
}

TEST(RandomChooser, TheSameSeedChoosesTheSame) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomChooser first(seed, 50), second(seed, 50);
    for (int i = 0; i < 50; ++i)
      ASSERT_EQ(first.choose(Question::go_on, three), second.choose(Question::go_on, three));
    EXPECT_EQ(first.trace(), second.trace());
  }
}

TEST(RandomChooser, SeedsDiffer) {
  RandomChooser first(3, 50), second(12, 50);
  for (int i = 0; i < 50; ++i) {
    first.choose(Question::go_on, three);
    second.choose(Question::go_on, three);
  }
  EXPECT_NE(first.trace(), second.trace());
}

// n choices of which at most b are not the first: the sum of n over k for k up to b.
TEST(SystematicChooser, WalksAllWithinTheBound) {
  for (const auto& [bound, wanted] : {std::pair{0, 1}, {1, 6}, {2, 16}, {5, 32}}) {
    SystematicChooser chooser(bound);
    int schedules = 0;
    do {
      for (int i = 0; i < 5; ++i) chooser.choose(Question::go_on, two);
      ++schedules;
    } while (chooser.advance());
    EXPECT_EQ(schedules, wanted) << bound;
  }
}

TEST(SystematicChooser, WhoGoesOnAfterOneThatSleepsIsFree) {
  SystematicChooser chooser(0);
  int schedules = 0;
  do {
    chooser.choose(Question::next, three);
    chooser.choose(Question::go_on, three);
    ++schedules;
  } while (chooser.advance());
  EXPECT_EQ(schedules, 3);
}

TEST(ReplayChooser, FollowsTheTraceThenTakesTheFirst) {
  ReplayChooser chooser({2, 0, 1});
  std::vector<std::size_t> chosen;
  for (int i = 0; i < 5; ++i) chosen.push_back(chooser.choose(Question::next, three));
  EXPECT_EQ(chosen, (std::vector<std::size_t>{2, 0, 1, 0, 0}));
}

TEST(ReplayChooser, ATraceOfSomethingElseIsRefused) {
  ReplayChooser chooser({2});
  EXPECT_THROW(chooser.choose(Question::next, two), Error);
}

}  // namespace
}  // namespace espalier::simulation::checker
