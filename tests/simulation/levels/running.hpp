// The C API's levels on the simulated and on the checking machine.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "capi/levels/levels.hpp"
#include "simulation/checker/explore.hpp"
#include "simulation/checker/machine.hpp"
#include "simulation/levels/checked_levels.hpp"
#include "simulation/levels/simulated_levels.hpp"
#include "tests/full.hpp"

namespace espalier::testing {

/// Two packages of four NUMA domains of 16 cores.
inline simulation::Model model_of_128_cores() {
  simulation::Model model;
  model.name = "128 cores";
  model.node.levels = {{"numa", 16, 40, 0.1}, {"package", 64, 80, 0.2}, {"machine", 128, 200, 0.4}};
  model.node.reader_gap_ns = 10;
  model.node.own_copy_ns_per_byte = 0.05;
  model.node.reduce_ns_per_byte = 0.1;
  model.node.controller_cores = 16;
  return model;
}

/// `body(levels)` of the C API on every rank.
template <class Body>
simulation::Times simulate(const machine::LevelsLayout& layout, int ranks, Body body) {
  return simulation::run_levels(model_of_128_cores(), {1, ranks}, layout, 1,
                                [&](std::unique_ptr<machine::Levels> own) {
                                  espalier_levels levels(std::move(own));
                                  body(&levels);
                                });
}

/// The same under many schedules. What a rank leaves in `run.expect()` and `run.result()` is checked.
template <class Body>
void check(const char* name, const machine::LevelsLayout& layout, int ranks, Body body) {
  namespace checker = simulation::checker;
  checker::Scenario scenario;
  scenario.name = name;
  scenario.ranks = ranks;
  scenario.policy = checker::short_ladder(true);
  scenario.area_bytes = layout.bytes();
  scenario.body = [&](checker::CheckingMachine&) {
    espalier_levels levels(checker::checked_levels(layout));
    body(&levels, checker::Execution::current());
  };
  checker::Execution execution(scenario);
  checker::Budget budget;
  budget.executions = full() ? 20'000 : 300;
  for (const auto& exploration :
       {explore_randomly(execution, budget), explore_systematically(execution, 1, budget)}) {
    EXPECT_GT(exploration.executions, 10U);
    EXPECT_FALSE(exploration.finding) << print(*exploration.finding);
  }
}

}  // namespace espalier::testing
