#include <functional>
#include <string_view>

#include "base/format.hpp"
#include "collective/node/reductions/allreduce.hpp"
#include "collective/node/reductions/allreduce_central.hpp"
#include "collective/node/reductions/allreduce_exchange.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"
#include "collective/node/reductions/reduce_scatter.hpp"
#include "collective/node/reductions/reduce_scatter_grouped.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "collective/node/reductions/reduce_zero_copy.hpp"
#include "tests/collective/affine.hpp"
#include "tests/simulation/checker/making.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

template <class Reduce>
Body to_every_root(Reduce reduce) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < m.size() + 3; ++round) {
      const std::size_t count = counts[static_cast<std::size_t>(round) % counts.size()];
      const int root = round % m.size();
      const Words send = words(m.rank(), count, round);
      Words receive(count, 0);
      reduce(m, root, Reduction{send.data(), receive.data(), count * 8, sum_of_words()});
      if (m.rank() == root) expect(receive, sum(0, m.size() - 1, count, round), "reduce");
    }
  };
}

template <class Allreduce>
Body to_all(
    Allreduce allreduce,
    const std::function<bool(int rank, int round)>& in_place = [](int, int) { return true; }) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < 5; ++round) {
      const std::size_t count = counts[static_cast<std::size_t>(round) % counts.size()];
      Words data = words(m.rank(), count, round), result(count, 0);
      Words& receive = in_place(m.rank(), round) ? data : result;
      allreduce(m, Reduction{data.data(), receive.data(), count * 8, sum_of_words()});
      expect(receive, sum(0, m.size() - 1, count, round), "allreduce");
      Execution::current().use_again(data.data(), count * 8);
      Execution::current().use_again(result.data(), count * 8);
    }
  };
}

ContiguousPosition place_in(int ranks, int rank, int root) { return contiguous_position(ranks, rank, root); }

Scenario whole(int ranks, bool fenced) {
  auto places = std::make_shared<std::vector<ContiguousPosition>>();
  for (int root = 0; root < ranks; ++root)
    for (int rank = 0; rank < ranks; ++rank) places->push_back(place_in(ranks, rank, root));
  return make("reduce whole", ranks, fenced, two, [=](CheckingMachine& m) {
    for (int root = 0; root < ranks; ++root) {
      constexpr std::size_t count = 11;
      const std::vector<Affine> send = maps_of(m.rank(), count);
      std::vector<Affine> receive(count);
      Length length{count};
      reduce_whole(m, (*places)[static_cast<std::size_t>(root * ranks + m.rank())], send.data(),
                   receive.data(), count * sizeof(Affine), {combine_affine, &length},
                   plan_for(Algorithm::tree));
      Execution::current().expect(m.rank() != root || receive == composed(0, ranks - 1, count),
                                  "reduce whole");
    }
  });
}

template <class ReduceScatter>
Scenario scattered(int ranks, bool fenced, std::string_view how, ReduceScatter reduce_scatter) {
  return make(formatted("reduce_scatter {}", how), ranks, fenced, {4, 1024}, [=](CheckingMachine& m) {
    for (int round = 0; round < 4; ++round) {
      std::vector<std::size_t> edges = {0};  // of one rank's block nothing, of others several rounds'
      for (int rank = 0; rank < ranks; ++rank)
        edges.push_back(edges.back() +
                        8 * static_cast<std::size_t>((rank + round) % 3) * (round == 2 ? 90 : 3));
      const PackedBlocks blocks{edges};
      const std::size_t count = edges.back() / 8, own = blocks.bytes_of(m.rank()) / 8;
      const Words send = words(m.rank(), count, round);
      Words receive(own, 0);
      reduce_scatter(m, Reduction{send.data(), receive.data(), edges.back(), sum_of_words()}, blocks);
      const Words all = sum(0, ranks - 1, count, round);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(blocks.offset_of(m.rank()) / 8);
      expect(receive, Words(begin, begin + static_cast<std::ptrdiff_t>(own)), "reduce_scatter");
      Execution::current().use_again(send.data(), edges.back());
    }
  });
}

/// Blocks of one length, which go in groups; every other call has its result on the start of the vector.
Scenario scattered_in_groups(int ranks, bool fenced, const Ring& ring) {
  return make(formatted("reduce_scatter grouped, {} slots", ring.slots), ranks, fenced, ring,
              [=](CheckingMachine& m) {
                for (int round = 0; round < 5; ++round) {
                  const std::size_t count = round == 2 ? 9 : 1, all = count * static_cast<std::size_t>(ranks);
                  Words send = words(m.rank(), all, round), receive(count, 0);
                  Words& result = round % 2 ? send : receive;
                  reduce_scatter_grouped(m, Reduction{send.data(), result.data(), all * 8, sum_of_words()},
                                         count * 8, plan_for(Algorithm::grouped, 256));
                  result.resize(count);
                  const auto own = static_cast<std::ptrdiff_t>(count) * m.rank();
                  const Words wanted = sum(0, ranks - 1, all, round);
                  expect(result, Words(wanted.begin() + own, wanted.begin() + own + std::ptrdiff_t(count)),
                         "reduce_scatter");
                }
              });
}

}  // namespace

std::vector<Scenario> reductions(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, const Ring& ring, Body body) {
    all.push_back(make(name, ranks, fenced, ring, std::move(body)));
  };
  for (const char* shape : {"flat", "chain", "kary:2"})
    for (const bool avoid : {true, false}) {
      Plan plan = plan_for(Algorithm::tree);
      plan.copy_avoidance = avoid;
      plan.inlined = avoid;
      const auto places = trees(ranks, shape);
      add(formatted("reduce {}{}", shape, avoid ? "" : ", by way of slots"), two,
          to_every_root([=](CheckingMachine& m, int root, const Reduction& r) {
            reduce_tree(m, places->of(m.rank(), root), r, plan);
          }));
    }
  for (const bool from_parent : {true, false}) {
    Plan plan = plan_for(Algorithm::tree);
    plan.read_from_parent = from_parent;
    plan.copy_avoidance = from_parent;
    const auto up = trees(ranks, "kary:2"), down = trees(ranks, "chain");
    for (const Ring& ring : {one, narrow})
      add(formatted("allreduce tree{}, {} slots", from_parent ? "" : ", parents write", ring.slots), ring,
          to_all([=](CheckingMachine& m, const Reduction& r) {
            allreduce_tree(m, up->of(m.rank(), 0), down->of(m.rank(), 0), r, plan);
          }));
  }
  for (const Ring& ring : {one, narrow}) {
    const auto name = [&](const char* algorithm) {
      return formatted("allreduce {}, {} slots", algorithm, ring.slots);
    };
    add(name("exchange"), ring, to_all([](CheckingMachine& m, const Reduction& r) {
          allreduce_exchange(m, r, plan_for(Algorithm::exchange));
        }));
    add(name("central"), ring, to_all([](CheckingMachine& m, const Reduction& r) {
          allreduce_central(m, r, plan_for(Algorithm::central));
        }));
    add(name("sliced"), ring, to_all([](CheckingMachine& m, const Reduction& r) {
          allreduce_sliced(m, r, plan_for(Algorithm::sliced));
        }));
  }
  add("allreduce sliced", narrow, to_all([](CheckingMachine& m, const Reduction& r) {
        allreduce_sliced(m, r, plan_for(Algorithm::sliced));
      }));
  all.back() = pairwise(all.back());
  const auto shared_result = [](CheckingMachine& m, const Reduction& r) {
    Execution::current().expect(allreduce_zero_copy(m, r), "all ranks expose");
  };
  add("allreduce, vectors exposed", one, to_all(shared_result, [](int, int) { return false; }));
  add("allreduce, some vectors lent in place", one,
      to_all(shared_result, [](int rank, int round) { return (rank + round) % 3 == 0; }));
  all.push_back(refusing(all.back()));
  all.push_back(whole(ranks, fenced));
  for (const Algorithm algorithm : {Algorithm::exchange, Algorithm::central})
    all.push_back(scattered(ranks, fenced, plan::to_string(algorithm),
                            [=](CheckingMachine& m, const Reduction& r, const PackedBlocks& blocks) {
                              reduce_scatter(m, r, blocks, plan_for(algorithm, 1024));
                            }));
  all.push_back(pairwise(scattered(ranks, fenced, "central",
                                   [](CheckingMachine& m, const Reduction& r, const PackedBlocks& blocks) {
                                     reduce_scatter(m, r, blocks, plan_for(Algorithm::central, 256));
                                   })));
  for (const Ring& ring : {Ring{1, 256}, two}) all.push_back(scattered_in_groups(ranks, fenced, ring));
  all.push_back(scattered(ranks, fenced, "vectors exposed",
                          [](CheckingMachine& m, const Reduction& r, const PackedBlocks& blocks) {
                            Execution::current().expect(reduce_scatter_zero_copy(m, r, blocks),
                                                        "all ranks expose");
                          }));
  return all;
}

}  // namespace espalier::testing
