// The checking machine is worth as much as the bugs it finds: each memory order, fence and wait in machine/
// and collective/ is weakened or removed, one at a time, and must be missed. The mutants are found by
// running, so none is forgotten; those that may survive are named here, with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>

#include "simulation/checker/explore.hpp"
#include "tests/full.hpp"
#include "tests/simulation/checker/scenarios.hpp"
#include "tests/simulation/checker/survivors.hpp"

namespace espalier::simulation::checker {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// All scenarios that mutants are looked for in, and which sites each comes by.
class Scenes {
 public:
  Scenes() {
    for (const bool fenced : {true, false})
      for (const int ranks : {2, 3, 4})
        for (Scenario& scenario : testing::scenarios(ranks, fenced)) {
          Execution& execution = *executions_.emplace_back(std::make_unique<Execution>(std::move(scenario)));
          for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            RandomChooser chooser(seed, 300);
            EXPECT_FALSE(execution.run(chooser).violation);
          }
          for (const Site& site : execution.sites())
            if (!site.file.starts_with("tests/"))
              sites_.insert(site);  // waits of scenarios are not the library's
        }
  }
  const Sites& sites() const { return sites_; }

  /// The first thing that goes wrong in a scenario that comes by the mutant's site.
  /// A few executions of each first: most are found by one scenario or other at once.
  std::optional<Finding> look_for(const Mutant& mutant, milliseconds time) {
    const auto end = Time::now() + time;
    for (std::uint64_t first = 1, some = 5; Time::now() < end; first += some, some *= 2)
      for (const auto& execution : executions_) {
        if (!execution->sites().contains(mutant.site) || Time::now() > end) continue;
        Budget budget;
        budget.first_seed = first;
        budget.executions = some;
        budget.time = std::chrono::duration_cast<milliseconds>(end - Time::now());
        if (auto found = explore_randomly(*execution, budget, &mutant).finding) return found;
      }
    return {};
  }

 private:
  std::vector<std::unique_ptr<Execution>> executions_;
  Sites sites_;
};

Scenes& scenes() {
  static Scenes all;
  return all;
}

bool survives(const std::string& name) {
  return std::any_of(testing::survivors.begin(), testing::survivors.end(),
                     [&](const testing::Survivor& survivor) { return name == survivor.mutant; });
}

TEST(Mutants, EachIsCaught) {
  int caught = 0, survived = 0;
  for (const Mutant& mutant : mutants_of(scenes().sites())) {
    const std::string name = name_of(mutant, scenes().sites());
    const bool expected = survives(name);
    if (espalier::testing::full()) std::cout << name << std::endl;
    if (expected && !espalier::testing::full()) {
      ++survived;
      continue;  // to look in vain takes long
    }
    // Beside busy processes 5 s were not enough for one; one that is caught takes no longer for it.
    const auto finding = scenes().look_for(mutant, milliseconds(expected ? 5'000 : 60'000));
    finding ? ++caught : ++survived;
    if (!expected) {
      EXPECT_TRUE(finding) << name << " survives";
    } else {
      EXPECT_FALSE(finding) << name << " is said to survive, but: " << print(*finding);
    }
    if (finding && espalier::testing::full())
      std::cout << "    " << to_string(finding->violation.wrong) << ": " << finding->violation.text << "\n";
  }
  RecordProperty("caught", caught);
  RecordProperty("survived", survived);
  std::cout << caught << " mutants caught, " << survived << " survive\n";
}

// A survivor that is no mutant any more is a line to delete.
TEST(Mutants, SurvivorsAreMutants) {
  std::set<std::string> names;
  for (const Mutant& mutant : mutants_of(scenes().sites())) names.insert(name_of(mutant, scenes().sites()));
  for (const testing::Survivor& survivor : testing::survivors)
    EXPECT_TRUE(names.contains(survivor.mutant)) << survivor.mutant;
}

/// How often a text says something, comments left out.
int occurrences(const std::string& file, const std::regex& what) {
  std::ifstream in(std::string(ESPALIER_SOURCE) + "/src/" + file);
  EXPECT_TRUE(in) << file;
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find("//"));
    count += static_cast<int>(std::distance(std::sregex_iterator(line.begin(), line.end(), what), {}));
  }
  return count;
}

int sites_in(const std::string& file, Operation first, Operation last) {
  std::set<std::pair<unsigned, unsigned>> places;  // a template may have several names
  for (const Site& site : scenes().sites())
    if (site.file == file && site.operation >= first && site.operation <= last)
      places.insert({site.line, site.column});
  return static_cast<int>(places.size());
}

// No memory order of the protocol and no wait of an algorithm is out of the scenarios' reach.
TEST(Mutants, EveryMemoryOrderOfTheProtocolIsASite) {
  const std::regex order("std::memory_order_");
  for (const std::string file :
       {"machine/wait.hpp", "machine/wait_ladder.hpp", "machine/share_view.hpp", "machine/flag_lines.hpp",
        "machine/counters.hpp", "machine/placed_lines.hpp", "machine/copy_requests.hpp",
        "network/window/notifications.hpp", "network/window/landings.hpp", "network/window/memory.hpp",
        "collective/schedule/claims.hpp", "runtime/across/basic_channel.hpp"}) {
    EXPECT_EQ(sites_in(file, Operation::load, Operation::fence) +
                  sites_in(file, Operation::compare_exchange, Operation::compare_exchange),  // has two orders
              occurrences(file, order))
        << file;
  }
}

// The same for messages and what waits for them.
TEST(Mutants, EveryMessageBetweenNodesIsASite) {
  const std::string message =
      R"(\b(peers|leaders|net|carriers_|window_)\.(send|receive|drive_until|flush)\()";
  const std::regex all(message), types(R"(decltype\()" + message);
  for (const std::string file : {"multinode/allgather.hpp",
                                 "multinode/network/allgather_between.hpp",
                                 "multinode/allgather_shared.hpp",
                                 "multinode/allgather_window.hpp",
                                 "multinode/allreduce_window.hpp",
                                 "multinode/barrier.hpp",
                                 "multinode/network/power_of_two_core.hpp",
                                 "multinode/network/dissemination.hpp",
                                 "multinode/network/bruck_allgather.hpp",
                                 "multinode/stage/join.hpp",
                                 "multinode/network/ordered_parts.hpp",
                                 "multinode/network/notified_peers.hpp",
                                 "multinode/network/partial_reductions.hpp",
                                 "multinode/network/prefix.hpp",
                                 "multinode/network/rabenseifner.hpp",
                                 "multinode/network/recursive_doubling.hpp",
                                 "multinode/network/ring.hpp",
                                 "multinode/scan_any_order.hpp",
                                 "multinode/network/scatter_allgather.hpp",
                                 "multinode/network/tree.hpp"}) {
    const std::string path = "collective/" + file;
    EXPECT_EQ(sites_in(path, Operation::send, Operation::drive),
              occurrences(path, all) - occurrences(path, types))
        << file;
  }
}

TEST(Mutants, EveryWaitAndWordOfCallsOverNodesIsASite) {
  const std::string file = "runtime/across/basic_channel.hpp";
  EXPECT_EQ(sites_in(file, Operation::await, Operation::await),
            occurrences(file, std::regex(R"(\bSide::(has_come|speaks)\()")));
}

TEST(Mutants, EveryWaitOfTheAlgorithmsIsASite) {
  const std::regex wait(
      R"(\b(m|m_)\.(await|await_block|await_pair|await_exactly|await_finish|await_release_all|reserve|set_readers|all_finished|flush_for_readers)\()");
  for (const std::string file : {"node/all_to_all/allgather.hpp",
                                 "node/all_to_all/allgather_grouped.hpp",
                                 "node/all_to_all/allgather_tree.hpp",
                                 "node/reductions/allreduce.hpp",
                                 "node/reductions/allreduce_central.hpp",
                                 "node/reductions/allreduce_exchange.hpp",
                                 "node/reductions/allreduce_sliced.hpp",
                                 "node/all_to_all/alltoall.hpp",
                                 "node/all_to_all/alltoallv.hpp",
                                 "node/all_to_all/counted_meeting.hpp",
                                 "node/barrier.hpp",
                                 "node/rooted/bcast.hpp",
                                 "node/rooted/bcast_single_copy.hpp",
                                 "node/all_to_all/exchange_single_copy.hpp",
                                 "node/rooted/gather.hpp",
                                 "node/rooted/gatherv.hpp",
                                 "core/block_lengths.hpp",
                                 "core/chunk_copies.hpp",
                                 "core/gather_parts.hpp",
                                 "core/grouped_exchange.hpp",
                                 "core/inline_exchange.hpp",
                                 "core/zero_copy_blocks.hpp",
                                 "core/meeting.hpp",
                                 "core/pairwise_cells.hpp",
                                 "core/tree_pipeline.hpp",
                                 "core/tree_primitives.hpp",
                                 "node/reductions/reduce.hpp",
                                 "node/reductions/reduce_zero_copy.hpp",
                                 "node/reductions/reduce_scatter.hpp",
                                 "node/reductions/reduce_whole.hpp",
                                 "core/rounds.hpp",
                                 "node/scan/scan.hpp",
                                 "node/scan/scan_chain.hpp",
                                 "node/scan/scan_sliced.hpp",
                                 "node/scan/scan_whole.hpp",
                                 "schedule/given_data.hpp",
                                 "schedule/exposure_end.hpp",
                                 "node/rooted/scatter.hpp",
                                 "node/rooted/scatterv.hpp",
                                 "multinode/allgather_shared.hpp",
                                 "multinode/allgather_window.hpp",
                                 "multinode/allreduce_window.hpp",
                                 "multinode/stage/node_ranks.hpp"})
    EXPECT_EQ(sites_in("collective/" + file, Operation::await, Operation::flush_for_readers),
              occurrences("collective/" + file, wait))
        << file;
}

}  // namespace
}  // namespace espalier::simulation::checker
