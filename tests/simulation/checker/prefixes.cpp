#include "base/format.hpp"
#include "collective/dispatch.hpp"
#include "collective/node/scan/scan_whole.hpp"
#include "tests/collective/affine.hpp"
#include "tests/simulation/checker/making.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

template <class Scan>
Body of_both_kinds(Scan scan) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < 6; ++round) {
      const Prefix prefix = round % 2 ? Prefix::exclusive : Prefix::inclusive;
      const std::size_t count = counts[static_cast<std::size_t>(round / 2) % counts.size()];
      Words data = words(m.rank(), count, round);
      const Words wanted = prefix == Prefix::inclusive ? sum(0, m.rank(), count, round)
                           : m.rank() == 0             ? data
                                                       : sum(0, m.rank() - 1, count, round);
      scan(m, Reduction{data.data(), data.data(), count * 8, sum_of_words()}, prefix);
      expect(data, wanted, "scan");
    }
  };
}

Body of_whole_vectors() {
  return [](CheckingMachine& m) {
    for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) {
      constexpr std::size_t count = 11;
      const int last = prefix == Prefix::inclusive ? m.rank() : m.rank() - 1;
      const std::vector<Affine> send = maps_of(m.rank(), count);
      std::vector<Affine> receive(count);
      Length length{count};
      scan_whole(m, send.data(), receive.data(), count * sizeof(Affine), prefix, {combine_affine, &length},
                 plan_for(Algorithm::exchange));
      Execution::current().expect(last < 0 || receive == composed(0, last, count), "scan whole");
    }
  };
}

}  // namespace

std::vector<Scenario> prefixes(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const Ring& ring : {one, narrow}) {
    const auto add = [&](const char* name, Body body) {
      all.push_back(
          make(formatted("scan {}, {} slots", name, ring.slots), ranks, fenced, ring, std::move(body)));
    };
    for (const Algorithm algorithm : {Algorithm::exchange, Algorithm::central})
      add(algorithm == Algorithm::central ? "central" : "exchange",
          of_both_kinds([=](CheckingMachine& m, const Reduction& r, Prefix prefix) {
            scan(m, r, prefix, plan_for(algorithm));
          }));
    add("sliced", of_both_kinds([](CheckingMachine& m, const Reduction& r, Prefix prefix) {
          scan_sliced(m, r, prefix, plan_for(Algorithm::sliced));
        }));
    add("chain", of_both_kinds([](CheckingMachine& m, const Reduction& r, Prefix prefix) {
          scan_chain(m, r, prefix, plan_for(Algorithm::chain));
        }));
    for (const char* shape : {"chain", "kary:2"})
      add(formatted("tree {}", shape).c_str(),
          of_both_kinds(
              [places = trees(ranks, shape)](CheckingMachine& m, const Reduction& r, Prefix prefix) {
                scan_tree(m, places->pair_of(m.rank()), r, prefix, plan_for(Algorithm::tree));
              }));
    add("whole", of_whole_vectors());
  }
  return all;
}

}  // namespace espalier::testing
