// What is explored: every collective of collective/*.hpp on a few ranks, several calls in a row so that slots
// are used again, with sizes that ride inline, fill a slot, and run around the ring.
#pragma once

#include <vector>

#include "simulation/checker/execution.hpp"

namespace espalier::testing {

/// All scenarios for so many ranks, 2 to 5. `fenced`: with the ladder of oversubscribed cores.
std::vector<simulation::checker::Scenario> scenarios(int ranks, bool fenced);

std::vector<simulation::checker::Scenario> wake_ups(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> barriers(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> broadcasts(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> reductions(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> prefixes(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> exchanges(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> rooted_moves(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> schedule(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> calls_under_way(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> mixtures(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> levels(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> windows(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> letters(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> over_nodes(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> allgathers_over_nodes(int ranks, bool fenced);
std::vector<simulation::checker::Scenario> allreduces_through_windows(int ranks, bool fenced);

}  // namespace espalier::testing
