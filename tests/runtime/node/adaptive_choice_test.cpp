#include "runtime/node/adaptive_choice.hpp"

#include <gtest/gtest.h>

#include <string>

namespace espalier::runtime {
namespace {

using namespace std::chrono_literals;

/// Stands still but for what the ways take.
struct ClockOfWays : std::chrono::steady_clock {
  static time_point now() { return time; }
  inline static time_point time{};
};

class AQuickerWay : public ::testing::Test {
 protected:
  using Way = AdaptiveChoice<ClockOfWays>;
  static constexpr int tries = 2 * Way::each;

  /// Which ways so many calls went: 1 or 2 each, with a `!` behind it if it was a try.
  std::string run(int calls) {
    std::string ways;
    for (int i = 0; i < calls; ++i)
      way_.run([&] { ways += '1', ClockOfWays::time += first; },
               [&] { ways += '2', ClockOfWays::time += second; },
               [&] { ways += '!', ClockOfWays::time += ways.ends_with("1!") ? first_goes_on : 0ns; });
    return ways;
  }
  static std::string all(char way, int calls) { return std::string(static_cast<std::size_t>(calls), way); }

  std::chrono::nanoseconds first = 100ns, second = 80ns, first_goes_on = 0ns;

 private:
  Way way_;
};

TEST_F(AQuickerWay, BeginsWithTheFirstThenTriesBothInTurns) {
  EXPECT_EQ(run(Way::first_rest), all('1', Way::first_rest));
  EXPECT_EQ(run(tries), "1!2!1!2!1!2!1!2!1!2!");
}

TEST_F(AQuickerWay, GoesOnWithTheQuickerOne) {
  run(Way::first_rest + tries);
  EXPECT_EQ(run(Way::shortest_rest), all('2', Way::shortest_rest));
}

TEST_F(AQuickerWay, OrWithTheFirst) {
  second = 120ns;
  run(Way::first_rest + tries);
  EXPECT_EQ(run(Way::shortest_rest), all('1', Way::shortest_rest));
}

// A way that returns before its readers have read is not quicker for that.
TEST_F(AQuickerWay, CountsUntilAllIsOver) {
  first = 50ns, first_goes_on = 50ns;
  run(Way::first_rest + tries);
  EXPECT_EQ(run(Way::shortest_rest), all('2', Way::shortest_rest));
}

TEST_F(AQuickerWay, RanksThatComeLateDecideNothing) {
  run(Way::first_rest);
  for (int i = 0; i < tries; ++i) {
    second = i < tries - 2 ? 4ms : 80ns;
    run(1);
  }
  EXPECT_EQ(run(Way::shortest_rest), all('2', Way::shortest_rest));
}

TEST_F(AQuickerWay, TriesAgainLessAndLessOften) {
  run(Way::first_rest);
  for (int rest = Way::shortest_rest; rest <= Way::longest_rest; rest *= 2) {
    run(tries);
    EXPECT_EQ(run(rest), all('2', rest));
  }
  run(tries);
  run(Way::longest_rest);
  second = 120ns;
  EXPECT_EQ(run(tries), "1!2!1!2!1!2!1!2!1!2!");
  EXPECT_EQ(run(10), all('1', 10));
}

TEST(AdaptiveChoices, EachSizeHasItsOwn) {
  AdaptiveChoices<ClockOfWays> ways;
  const auto goes_second = [&](std::size_t bytes) {
    bool second = false;
    ways.run(
        bytes, [&] { ClockOfWays::time += std::chrono::nanoseconds(bytes); },
        [&] { second = true, ClockOfWays::time += 100us; }, [] {});
    return second;
  };
  for (int i = 0; i < AdaptiveChoice<>::first_rest + 2 * AdaptiveChoice<>::each; ++i)
    goes_second(1 << 15), goes_second(1 << 18), goes_second(std::size_t{1} << 40);
  EXPECT_FALSE(goes_second(1 << 15));
  EXPECT_TRUE(goes_second(1 << 18));
  EXPECT_TRUE(goes_second(std::size_t{1} << 40));
}

}  // namespace
}  // namespace espalier::runtime
