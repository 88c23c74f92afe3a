#include "collective/node/barrier.hpp"

#include "tests/simulation/checker/making.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;
using simulation::checker::Platform;

// Each writes its note, meets the others, and reads theirs: twice, with a meeting in between.
Body notes_around(std::function<void(CheckingMachine&)> barrier) {
  return [barrier](CheckingMachine& m) {
    Execution& run = Execution::current();
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t mine = word(m.rank(), 0, round);
      Platform::copy(run.note(m.rank()), &mine, sizeof mine);
      barrier(m);
      for (const int peer : m.other_ranks()) {
        std::uint64_t theirs = 0;
        Platform::copy(&theirs, run.note(peer), sizeof theirs);
        run.expect(theirs == word(peer, 0, round), "a barrier let a rank go too early");
      }
      barrier(m);
    }
  };
}

}  // namespace

std::vector<Scenario> barriers(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, Body body) {
    all.push_back(make(name, ranks, fenced, one, notes_around(std::move(body))));
  };
  add("barrier exchange", [](CheckingMachine& m) { barrier_exchange(m); });
  add("barrier central", [](CheckingMachine& m) { barrier_central(m); });
  for (const bool from_parent : {true, false}) {
    Plan plan;
    plan.read_from_parent = from_parent;
    const auto up = trees(ranks, "chain"), down = trees(ranks, "kary:2");
    add(from_parent ? "barrier tree" : "barrier tree, parents write",
        [=](CheckingMachine& m) { barrier_tree(m, up->of(m.rank(), 0), down->of(m.rank(), 0), plan); });
  }
  return all;
}

}  // namespace espalier::testing
