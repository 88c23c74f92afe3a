// Base cases of users, unchanged, on machines that are not there.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "examples/levels/levels.h"
#include "tests/levels/stranger.h"
#include "tests/simulation/levels/running.hpp"
#include "topology/discover.hpp"

namespace espalier {
namespace {

using machine::LevelsLayout;
using simulation::checker::Execution;
using testing::check;
using testing::simulate;

// Two slots, so that they are soon used again.
LevelsLayout layout_of(const topology::Group& groups, int root = 0, std::size_t slots = 2) {
  const espalier_levels_options options = levels_options_of(slots);
  return {groups, root, options.shared_bytes, options.member_bytes};
}

topology::Group machine_of_128() {
  const auto machine = topology::discover(topology::Source::synthetic("package:2 numa:4 core:16 pu:1"));
  std::vector<topology::CpuSet> masks;
  for (int core = 0; core < 128; ++core) masks.push_back(topology::CpuSet::parse(std::to_string(core)));
  return topology::group_ranks(machine, masks);
}

std::uint64_t value_of(int rank) { return static_cast<std::uint64_t>((rank * 37) % 128 + 1000); }

double simulated_max(const topology::Group& groups, int ranks) {
  const LevelsLayout layout = layout_of(groups);
  return simulate(layout, ranks,
                  [&](espalier_levels* levels) {
                    for (int round = 0; round < 3; ++round) {
                      std::uint64_t value =
                          value_of(levels->levels->rank()) * static_cast<std::uint64_t>(round + 1);
                      ASSERT_EQ(stranger_max(levels, &value), 0) << espalier_error_text();
                      EXPECT_EQ(value, 1127U * static_cast<std::uint64_t>(round + 1));
                    }
                  })
      .last();
}

/// Calls of an example, and who makes it: what comes out is known.
struct Caller {
  int rank, ranks, root, round;
};
using Expect = std::function<void(bool)>;
struct Use {
  const char* name;
  void (*call)(espalier_levels* levels, const Caller& by, const Expect& expect);
};

const Use uses[] = {{"reduce",
                     [](espalier_levels* levels, const Caller& by, const Expect& expect) {
                       double value = (by.rank + 1) * by.round;
                       expect(levels_reduce(levels, &value, &value, 1) == 0);
                       expect(by.rank != by.root || value == by.round * by.ranks * (by.ranks + 1) / 2);
                     }},
                    {"bcast",
                     [](espalier_levels* levels, const Caller& by, const Expect& expect) {
                       std::uint64_t value = by.rank == by.root ? static_cast<std::uint64_t>(by.round) : 99;
                       expect(levels_bcast(levels, &value, sizeof value) == 0);
                       expect(value == static_cast<std::uint64_t>(by.round));
                     }},
                    {"top_k", [](espalier_levels* levels, const Caller& by, const Expect& expect) {
                       double values[] = {(by.rank + 1.0) * by.round, by.rank + 0.5};
                       if (values[0] < values[1]) std::swap(values[0], values[1]);
                       expect(levels_top_k(levels, values, 2) == 0);
                       expect(values[0] == by.ranks * by.round);
                       expect(values[1] == std::max((by.ranks - 1.0) * by.round, by.ranks - 0.5));
                     }}};

TEST(SimulatedLevels, TheExamplesRunOn128Ranks) {
  const topology::Group groups = tree::split_virtual_levels(machine_of_128(), 4, 2);
  for (const Use& use : uses)
    for (const int root : {0, 77})
      simulate(layout_of(groups, root), 128, [&](espalier_levels* levels) {
        for (int round = 1; round <= 3; ++round)
          use.call(levels, {levels->levels->rank(), 128, root, round},
                   [&](bool holds) { EXPECT_TRUE(holds) << use.name; });
      });
  int come = 0;
  simulate(layout_of(groups), 128, [&](espalier_levels* levels) {
    for (int round = 1; round <= 3; ++round) {
      ++come;
      ASSERT_EQ(levels_barrier(levels), 0);
      EXPECT_EQ(come, 128 * round) << "a rank left before all had come";
      ASSERT_EQ(levels_barrier(levels), 0);
    }
  });
}

// OSMP's claim: the tree that follows the machine, and virtual levels in it, cost less than one wide group.
TEST(SimulatedLevels, AStrangersBaseCaseRunsOn128Ranks) {
  const topology::Group groups = machine_of_128();
  const double flat = simulated_max(topology::flat_group(128), 128);
  const double by_machine = simulated_max(groups, 128);
  const double with_virtual = simulated_max(tree::split_virtual_levels(groups, 4, 1), 128);
  EXPECT_LT(by_machine, flat);
  EXPECT_LT(with_virtual, by_machine);
  EXPECT_GT(with_virtual, 0);
  EXPECT_EQ(with_virtual, simulated_max(tree::split_virtual_levels(groups, 4, 1), 128)) << "the same again";
}

TEST(SimulatedLevels, RanksThatWaitForEverAreFound) {
  const auto wait = [](const espalier_group_view* group, void*) {
    return espalier_group_wait_until(group, 0, ESPALIER_UNTIL_EQUAL, 1);
  };
  EXPECT_THROW(simulate(layout_of(topology::flat_group(2)), 2,
                        [&](espalier_levels* levels) { espalier_levels_up(levels, wait, nullptr); }),
               Error);
}

struct Tree {
  const char* text;
  int ranks;
};

constexpr Tree trees[] = {{"(0 1)", 2}, {"(0 1 2)", 3}, {"((0 1) 2)", 3}, {"((0 1) (2 3))", 4}};

TEST(CheckedLevels, AStrangersBaseCaseIsRightUnderAnySchedule) {
  for (const auto& [text, ranks] : trees)
    check(text, layout_of(tree::parse_groups(text, ranks)), ranks,
          [&](espalier_levels* levels, Execution& run) {
            std::uint64_t most = 0;
            for (int rank = 0; rank < ranks; ++rank) most = std::max(most, value_of(rank));
            for (std::uint64_t round = 1; round <= 2; ++round) {
              std::uint64_t value = value_of(run.rank()) * round;
              run.expect(stranger_max(levels, &value) == 0, "an error");
              run.expect(value == most * round, "the largest value");
            }
          });
}

TEST(CheckedLevels, TheExamplesAreRightUnderAnySchedule) {
  for (const auto& [text, ranks] : trees)
    for (const Use& use : uses) {
      const int rounds = ranks == 2 ? 5 : 3;
      check(use.name, layout_of(tree::parse_groups(text, ranks), ranks - 1), ranks,
            [&](espalier_levels* levels, Execution& run) {
              for (int round = 1; round <= rounds; ++round)
                use.call(levels, {run.rank(), ranks, ranks - 1, round},
                         [&](bool holds) { run.expect(holds, use.name); });
            });
    }
}

// Halves of two slots: the second one of a half is used without a wait.
TEST(CheckedLevels, TheExamplesReuseHalvesOfTheirSlots) {
  constexpr int rounds = 7;
  for (const Use& use : uses)
    check(use.name, layout_of(topology::flat_group(2), 0, 4), 2,
          [&](espalier_levels* levels, Execution& run) {
            for (int round = 1; round <= rounds; ++round)
              use.call(levels, {run.rank(), 2, 0, round}, [&](bool holds) { run.expect(holds, use.name); });
          });
}

// What ranks write before a barrier lies in plain memory of their node.
TEST(CheckedLevels, TheBarriersExampleOrdersMemory) {
  using simulation::checker::Platform;
  for (const auto& [text, ranks] : trees)
    check("barrier", layout_of(tree::parse_groups(text, ranks)), ranks,
          [&](espalier_levels* levels, Execution& run) {
            for (std::uint64_t round = 1; round <= 2; ++round) {
              Platform::copy(run.note(run.rank()), &round, sizeof round);
              run.expect(levels_barrier(levels) == 0, "an error");
              for (int rank = 0; rank < ranks; ++rank) {
                std::uint64_t theirs = 0;
                Platform::copy(&theirs, run.note(rank), sizeof theirs);
                run.expect(theirs == round, "a rank was late");
              }
              run.expect(levels_barrier(levels) == 0, "an error");
            }
          });
}

// A base case without the wait reads what no rank has put.
TEST(CheckedLevels, AForgottenWaitIsFound) {
  namespace checker = simulation::checker;
  const auto read_too_early = [](const espalier_group_view* group, void*) {
    std::uint64_t value = group->traversal;
    return group->rank > 0 ? espalier_group_put(group, espalier_group_part(group, group->rank), &value, 8)
                           : espalier_group_get(group, espalier_group_part(group, 1), &value, 8);
  };
  const LevelsLayout layout = layout_of(topology::flat_group(2));
  checker::Scenario scenario;
  scenario.name = "forgotten wait";
  scenario.policy = checker::short_ladder(true);
  scenario.area_bytes = layout.bytes();
  scenario.body = [&](checker::CheckingMachine&) {
    espalier_levels levels(checker::checked_levels(layout));
    espalier_levels_up(&levels, read_too_early, nullptr);
  };
  checker::Execution execution(scenario);
  const auto finding = explore_randomly(execution, {}).finding;
  ASSERT_TRUE(finding);
  EXPECT_TRUE(finding->violation.wrong == checker::Wrong::unwritten ||
              finding->violation.wrong == checker::Wrong::unordered)
      << print(*finding);
}

}  // namespace
}  // namespace espalier
