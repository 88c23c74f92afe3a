// Many executions of a scenario, until one goes wrong or the budget is spent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "simulation/checker/execution.hpp"

namespace espalier::simulation::checker {

/// How to get the execution again: its seed, where it had one, and its trace, which is enough.
struct Finding {
  std::string scenario;
  std::optional<std::uint64_t> seed;
  Trace trace;
  Violation violation;
};
/// What happened, and how to replay it.
std::string print(const Finding& finding);

struct Budget {
  std::uint64_t first_seed = 1;
  std::uint64_t executions = 1000;                         ///< at most
  std::chrono::milliseconds time = std::chrono::hours(1);  ///< at most
};

struct Exploration {
  std::optional<Finding> finding;
  std::uint64_t executions = 0;
  bool complete = false;  ///< a systematic one that came to its end
};

/// One seed after the other. All executions must have the same results, whatever the schedule.
Exploration explore_randomly(Execution& execution, const Budget& budget, const Mutant* mutant = nullptr);
/// All schedules with at most `bound` preemptions and stale loads.
Exploration explore_systematically(Execution& execution, int bound, const Budget& budget,
                                   const Mutant* mutant = nullptr);
/// The execution of a trace again, with its log.
Outcome replay(Execution& execution, const Trace& trace, const Mutant* mutant = nullptr);

}  // namespace espalier::simulation::checker
