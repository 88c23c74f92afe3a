// What is explored: every collective of collective/*.hpp on a few ranks, several calls in a row so that slots
// are used again, with sizes that ride inline, fill a slot, and run around the ring.
#pragma once

#include <vector>

#include "simulate/checking/execution.hpp"

namespace espalier::testing {

/// All scenarios for so many ranks, 2 to 5. `fenced`: with the ladder of oversubscribed cores.
std::vector<simulate::checking::Scenario> scenarios(int ranks, bool fenced);

std::vector<simulate::checking::Scenario> wake_ups(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> barriers(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> broadcasts(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> reductions(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> prefixes(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> exchanges(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> rooted_moves(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> schedule(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> mixtures(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> windows(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> over_nodes(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> allgathers_over_nodes(int ranks, bool fenced);
std::vector<simulate::checking::Scenario> allreduces_through_windows(int ranks, bool fenced);

}  // namespace espalier::testing
