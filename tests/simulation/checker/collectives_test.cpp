// Every collective under hostile schedules, clean. `make test-full` explores for ten minutes.
#include <gtest/gtest.h>

#include "simulation/checker/explore.hpp"
#include "tests/full.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::simulation::checker {
namespace {

using std::chrono::milliseconds;

/// Time that all explorations of this file take together, and how it is shared.
milliseconds share_of(std::size_t scenarios) {
  constexpr int suites = 8;  // 2 to 5 ranks, with and without fences
  return (espalier::testing::full() ? milliseconds(600'000) : milliseconds(8'000)) /
         (suites * static_cast<int>(scenarios));
}

class Explored : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(Explored, AtRandom) {
  const auto [ranks, fenced] = GetParam();
  const auto scenarios = testing::scenarios(ranks, fenced);
  std::uint64_t executions = 0;
  for (const Scenario& scenario : scenarios) {
    Execution execution(scenario);
    Budget budget;
    budget.executions = 1'000'000;
    budget.time = share_of(scenarios.size());
    const Exploration exploration = explore_randomly(execution, budget);
    executions += exploration.executions;
    EXPECT_FALSE(exploration.finding) << print(*exploration.finding);
  }
  RecordProperty("executions", static_cast<int>(executions));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Explored,
                         ::testing::Combine(::testing::Values(2, 3, 4, 5), ::testing::Bool()),
                         [](const auto& param) {
                           return std::to_string(std::get<0>(param.param)) +
                                  (std::get<1>(param.param) ? "_fenced" : "_not_fenced");
                         });

// All schedules with one preemption or stale load, for the short scenarios with two ranks.
TEST(Systematically, EveryScenarioOfTwoRanks) {
  int complete = 0;
  for (const Scenario& scenario : testing::scenarios(2, true)) {
    Execution execution(scenario);
    Budget budget;
    budget.executions = espalier::testing::full() ? 50'000 : 200;
    const Exploration exploration =
        explore_systematically(execution, espalier::testing::full() ? 2 : 1, budget);
    complete += exploration.complete;
    EXPECT_FALSE(exploration.finding) << print(*exploration.finding);
  }
  EXPECT_GT(complete, 0);
}

// A finding is of use only if it can be had again.
TEST(Replay, TheSameTraceIsTheSameExecution) {
  for (const Scenario& scenario : testing::mixtures(3, true)) {
    Execution execution(scenario);
    RandomChooser chooser(7, 100);
    const Outcome first = execution.run(chooser);
    const Outcome again = replay(execution, parse_trace(print(chooser.trace())));
    EXPECT_EQ(first.operations, again.operations);
    EXPECT_EQ(first.results, again.results);
    RandomChooser same(7, 100);
    execution.run(same);
    EXPECT_EQ(chooser.trace(), same.trace());
  }
}

}  // namespace
}  // namespace espalier::simulation::checker
