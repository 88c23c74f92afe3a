#include "base/format.hpp"
#include "collective/node/rooted/bcast.hpp"
#include "collective/node/rooted/bcast_single_copy.hpp"
#include "tests/simulation/checker/making.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

// Every rank is root in turn, so release lines change their writer. Afterwards the buffer is used for
// something else.
template <class Bcast>
Body from_every_root(const std::vector<std::size_t>& sizes, Bcast bcast) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < m.size() + 3; ++round) {
      const int root = round % m.size();
      const std::size_t count = sizes[static_cast<std::size_t>(round) % sizes.size()];
      Words data = words(m.rank(), count, round);
      bcast(m, root, data);
      expect(data, words(root, count, round), "bcast");
      Execution::current().use_again(data.data(), count * 8);
      std::fill(data.begin(), data.end(), 0xdead);
    }
  };
}

// Broadcasts of all kinds by turns, the root always the same, so that nothing holds it back.
Scenario by_turns(int ranks, bool fenced, const Ring& ring, bool mixed) {
  const auto places = trees(ranks, "chain");
  return make(formatted("bcasts by turns{}, {} slots", mixed ? ", now parents write, now they are read" : "",
                        ring.slots),
              ranks, fenced, ring, [=](CheckingMachine& m) {
                for (int round = 0; round < 6; ++round) {
                  Plan plan = plan_for(Algorithm::tree);
                  plan.read_from_parent = !mixed || round % 2 == 0;
                  const std::size_t count = round % 3 == 2 ? 20 : 2;
                  Words data = words(m.rank(), count, round);
                  const TreePosition& position = places->of(m.rank(), 0);
                  if (round % 3 == 1)
                    bcast_single_copy(m, position, data.data(), count * 8, plan);
                  else
                    bcast_tree(m, position, data.data(), count * 8, plan);
                  expect(data, words(0, count, round), "bcast");
                  Execution::current().use_again(data.data(), count * 8);
                }
              });
}

}  // namespace

std::vector<Scenario> broadcasts(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const char* shape : {"flat", "kary:2", "chain"})
    for (const bool from_parent : {true, false})
      for (const bool skip : {true, false}) {
        if (!skip && std::string(shape) != "flat") continue;
        const auto places = trees(ranks, shape);
        Plan plan = plan_for(Algorithm::tree);
        plan.read_from_parent = from_parent;
        plan.skip_gather = skip;
        const auto body = [=](CheckingMachine& m, int root, Words& data) {
          bcast_tree(m, places->of(m.rank(), root), data.data(), data.size() * 8, plan);
        };
        const std::string name = formatted("bcast {}{}{}", shape, from_parent ? "" : ", parents write",
                                           skip ? "" : ", root waits");
        for (const Ring& ring : {one, two})
          all.push_back(make(formatted("{}, {} slots", name, ring.slots), ranks, fenced, ring,
                             from_every_root({1, 20, 2}, body)));
        all.push_back(make(name + ", long", ranks, fenced, narrow, from_every_root({40, 14}, body)));
      }
  for (const Ring& ring : {one, two})
    for (const bool mixed : {false, true}) all.push_back(by_turns(ranks, fenced, ring, mixed));
  for (const bool from_parent : {true, false}) {
    const auto places = trees(ranks, "kary:2");
    Plan plan = plan_for(Algorithm::single_copy);
    plan.read_from_parent = from_parent;
    all.push_back(make(from_parent ? "bcast single copy" : "bcast single copy, parents write", ranks, fenced,
                       two, from_every_root({5, 30}, [=](CheckingMachine& m, int root, Words& data) {
                         bcast_single_copy(m, places->of(m.rank(), root), data.data(), data.size() * 8, plan);
                       })));
    if (from_parent) all.push_back(refusing(all.back()));
  }
  return all;
}

}  // namespace espalier::testing
