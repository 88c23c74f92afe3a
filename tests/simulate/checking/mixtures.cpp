#include "base/format.hpp"
#include "collective/allgather.hpp"
#include "collective/allreduce.hpp"
#include "collective/allreduce_central.hpp"
#include "collective/allreduce_sliced.hpp"
#include "collective/barrier.hpp"
#include "collective/bcast.hpp"
#include "collective/gather.hpp"
#include "collective/scan.hpp"
#include "collective/scatter.hpp"
#include "tests/simulate/checking/blocks.hpp"
#include "tests/simulate/checking/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

/// One of the collectives, the same on all ranks.
void call(CheckingMachine& m, unsigned which, int round, const Trees& places) {
  const auto n = static_cast<unsigned>(m.size());
  const int root = static_cast<int>(which / 16 % n);
  const std::size_t count = counts[which / 128 % counts.size()];
  const Place& place = places.of(m.rank(), root);
  const Plan plan = plan_for(Algorithm::exchange, which / 512 % 2 ? 128 : 64);
  Words data = words(m.rank(), count, round), all = sum(0, m.size() - 1, count, round);
  const Reduction r{data.data(), data.data(), count * 8, sum_of_words()};
  switch (which % 10) {
    case 0:
      return barrier_exchange(m);
    case 1:
      return barrier_central(m);
    case 2:
      bcast_tree(m, place, data.data(), count * 8, plan);
      return expect(data, words(root, count, round), "bcast");
    case 3:
      reduce_tree(m, place, r, plan);
      return m.rank() == root ? expect(data, all, "reduce") : void();
    case 4:
      allreduce_exchange(m, r, plan);
      return expect(data, all, "allreduce exchange");
    case 5:
      allreduce_central(m, r, plan);
      return expect(data, all, "allreduce central");
    case 6:
      allreduce_sliced(m, r, plan);
      return expect(data, all, "allreduce sliced");
    case 7:
      allreduce_tree(m, place, place, r, plan);
      return expect(data, all, "allreduce tree");
    case 8:
      scan(m, r, Prefix::inclusive, plan);
      return expect(data, sum(0, m.rank(), count, round), "scan");
    default: {
      Words got(count * n, 0);
      gather(m, root, data.data(), got.data(), count * 8, plan);
      Words wanted;
      for (int rank = 0; rank < m.size(); ++rank) {
        const Words theirs = words(rank, count, round);
        wanted.insert(wanted.end(), theirs.begin(), theirs.end());
      }
      return m.rank() == root ? expect(got, wanted, "gather") : void();
    }
  }
}

}  // namespace

// All algorithms share slots and steps: whatever follows whatever must find its slot free.
std::vector<Scenario> mixtures(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto places = trees(ranks, "kary:2");
  for (unsigned start = 1; start <= 6; ++start)
    all.push_back(make(formatted("mixture {}", start), ranks, fenced, start % 2 ? two : narrow,
                       [=](CheckingMachine& m) {
                         unsigned random = start;
                         for (int round = 0; round < 8; ++round) {
                           random = random * 1664525u + 1013904223u;
                           call(m, random >> 8, round, *places);
                         }
                       }));
  return all;
}

std::vector<Scenario> scenarios(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const auto part : {barriers, broadcasts, reductions, prefixes, exchanges, rooted_moves, mixtures})
    for (Scenario& scenario : part(ranks, fenced)) all.push_back(std::move(scenario));
  return all;
}

}  // namespace espalier::testing
