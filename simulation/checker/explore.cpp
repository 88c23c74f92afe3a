#include "simulation/checker/explore.hpp"

#include "base/format.hpp"

namespace espalier::simulation::checker {
namespace {

using Time = std::chrono::steady_clock;

/// Compares executions with the first one.
class Sameness {
 public:
  void look_at(Outcome& outcome) {
    if (outcome.violation) return;
    if (!first_)
      first_ = std::move(outcome.results);
    else if (*first_ != outcome.results)
      outcome.violation = {Wrong::result,
                           "results differ from those of the first execution: they depend on the schedule"};
  }

 private:
  std::optional<std::vector<std::byte>> first_;
};

}  // namespace

std::string print(const Finding& finding) {
  return formatted("{}: {}: {}\n  {}trace {}", finding.scenario, to_string(finding.violation.wrong),
                   finding.violation.text, finding.seed ? formatted("seed {}, ", *finding.seed) : "",
                   print(finding.trace));
}

Exploration explore_randomly(Execution& execution, const Budget& budget, const Mutant* mutant) {
  const auto end = Time::now() + budget.time;
  Exploration exploration;
  Sameness sameness;
  std::size_t length = 100;
  for (std::uint64_t i = 0; i < budget.executions && Time::now() < end; ++i) {
    const std::uint64_t seed = budget.first_seed + i;
    RandomChooser chooser(seed, length);
    Outcome outcome = execution.run(chooser, mutant);
    ++exploration.executions;
    length = chooser.trace().size();
    sameness.look_at(outcome);
    if (!outcome.violation) continue;
    exploration.finding = {execution.scenario().name, seed, chooser.trace(), *outcome.violation};
    break;
  }
  return exploration;
}

Exploration explore_systematically(Execution& execution, int bound, const Budget& budget,
                                   const Mutant* mutant) {
  const auto end = Time::now() + budget.time;
  Exploration exploration;
  Sameness sameness;
  SystematicChooser chooser(bound);
  do {
    Outcome outcome = execution.run(chooser, mutant);
    ++exploration.executions;
    sameness.look_at(outcome);
    if (outcome.violation) {
      exploration.finding = {execution.scenario().name, {}, chooser.trace(), *outcome.violation};
      return exploration;
    }
    if (!chooser.advance()) {
      exploration.complete = true;
      return exploration;
    }
  } while (exploration.executions < budget.executions && Time::now() < end);
  return exploration;
}

Outcome replay(Execution& execution, const Trace& trace, const Mutant* mutant) {
  ReplayChooser chooser(trace);
  return execution.run(chooser, mutant, true);
}

}  // namespace espalier::simulation::checker
