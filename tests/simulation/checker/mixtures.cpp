#include <array>

#include "base/format.hpp"
#include "collective/node/all_to_all/allgather.hpp"
#include "collective/node/all_to_all/allgather_grouped.hpp"
#include "collective/node/all_to_all/allgather_tree.hpp"
#include "collective/node/all_to_all/alltoall.hpp"
#include "collective/node/barrier.hpp"
#include "collective/node/reductions/allreduce.hpp"
#include "collective/node/reductions/allreduce_central.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"
#include "collective/node/rooted/bcast.hpp"
#include "collective/node/rooted/bcast_single_copy.hpp"
#include "collective/node/rooted/gather.hpp"
#include "collective/node/rooted/scatter.hpp"
#include "collective/node/scan/scan.hpp"
#include "collective/node/scan/scan_chain.hpp"
#include "collective/node/scan/scan_sliced.hpp"
#include "collective/node/scan/scan_tree.hpp"
#include "tests/simulation/checker/blocks.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;
using simulation::checker::Wrong;

/// One call of a mixture: the same on all ranks.
struct Turn {
  int root, round;
  std::size_t count;
  Plan plan;
  const Trees& trees;

  std::size_t bytes() const { return count * 8; }
  const TreePosition& position(int rank) const { return trees.of(rank, root); }
};

Words own(const CheckingMachine& m, const Turn& t) { return words(m.rank(), t.count, t.round); }
Words total(const CheckingMachine& m, const Turn& t) { return sum(0, m.size() - 1, t.count, t.round); }

template <class Allreduce>
void check_allreduce(CheckingMachine& m, const Turn& t, Allreduce allreduce) {
  Words data = own(m, t);
  allreduce(Reduction{data.data(), data.data(), t.bytes(), sum_of_words()});
  expect(data, total(m, t), "allreduce");
}

template <class Bcast>
void check_bcast(CheckingMachine& m, const Turn& t, Bcast bcast) {
  Words data = own(m, t);
  bcast(data.data());
  expect(data, words(t.root, t.count, t.round), "bcast");
  Execution::current().use_again(data.data(), t.bytes());
}

template <class Scan>
void check_scan(CheckingMachine& m, const Turn& t, Scan scan) {
  Words data = own(m, t);
  scan(Reduction{data.data(), data.data(), t.bytes(), sum_of_words()});
  expect(data, sum(0, m.rank(), t.count, t.round), "scan");
}

void check_reduce(CheckingMachine& m, const Turn& t) {
  Words data = own(m, t);
  reduce_tree(m, t.position(m.rank()), {data.data(), data.data(), t.bytes(), sum_of_words()}, t.plan);
  if (m.rank() == t.root) expect(data, total(m, t), "reduce");
}

/// Every rank's words, in rank order.
Words of_all(const CheckingMachine& m, const Turn& t) {
  Words all;
  for (int rank = 0; rank < m.size(); ++rank) {
    const Words theirs = words(rank, t.count, t.round);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  return all;
}

void check_gather(CheckingMachine& m, const Turn& t) {
  const Words data = own(m, t);
  Words got(t.count * static_cast<std::size_t>(m.size()), 0);
  gather(m, t.root, data.data(), got.data(), t.bytes(), t.plan);
  if (m.rank() == t.root) expect(got, of_all(m, t), "gather");
}

void check_scatter(CheckingMachine& m, const Turn& t) {
  const Words all = of_all(m, t);
  Words got(t.count, 0);
  scatter(m, t.root, all.data(), got.data(), t.bytes(), t.plan);
  expect(got, own(m, t), "scatter");
}

template <class Allgather>
void check_allgather(CheckingMachine& m, const Turn& t, Allgather allgather) {
  const Words data = own(m, t);
  Words got(t.count * static_cast<std::size_t>(m.size()), 0);
  allgather(data.data(), got.data(), EqualBlocks{t.bytes()});
  expect(got, of_all(m, t), "allgather");
}

using Move = void (*)(CheckingMachine&, const Turn&);
constexpr std::array<Move, 19> moves = {
    [](CheckingMachine& m, const Turn&) { barrier_exchange(m); },
    [](CheckingMachine& m, const Turn&) { barrier_central(m); },
    [](CheckingMachine& m, const Turn& t) {
      barrier_tree(m, t.position(m.rank()), t.position(m.rank()), t.plan);
    },
    [](CheckingMachine& m, const Turn& t) {
      check_bcast(m, t, [&](void* data) { bcast_tree(m, t.position(m.rank()), data, t.bytes(), t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_bcast(m, t,
                  [&](void* data) { bcast_single_copy(m, t.position(m.rank()), data, t.bytes(), t.plan); });
    },
    check_reduce,
    [](CheckingMachine& m, const Turn& t) {
      check_allreduce(m, t, [&](const Reduction& r) { allreduce_exchange(m, r, t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_allreduce(m, t, [&](const Reduction& r) { allreduce_central(m, r, t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_allreduce(m, t, [&](const Reduction& r) { allreduce_sliced(m, r, t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_allreduce(m, t, [&](const Reduction& r) {
        allreduce_tree(m, t.position(m.rank()), t.position(m.rank()), r, t.plan);
      });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_scan(m, t, [&](const Reduction& r) { scan(m, r, Prefix::inclusive, t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_scan(m, t, [&](const Reduction& r) { scan_sliced(m, r, Prefix::inclusive, t.plan); });
    },
    check_gather,
    check_scatter,
    [](CheckingMachine& m, const Turn& t) {
      check_allgather(m, t, [&](auto... data) { allgather(m, data..., t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_allgather(m, t,
                      [&](auto... data) { allgather_tree(m, t.trees.pair_of(m.rank()), data..., t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_allgather(m, t, [&](auto... data) { allgather_grouped(m, data..., t.plan); });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_scan(m, t, [&](const Reduction& r) {
        scan_tree(m, t.trees.pair_of(m.rank()), r, Prefix::inclusive, t.plan);
      });
    },
    [](CheckingMachine& m, const Turn& t) {
      check_scan(m, t, [&](const Reduction& r) { scan_chain(m, r, Prefix::inclusive, t.plan); });
    },
};

/// The bits of a linear congruence are better in the middle.
class Dice {
 public:
  explicit Dice(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
  template <class N>
  N below(N count) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<N>((state_ >> 12) % static_cast<unsigned>(count));
  }

 private:
  unsigned state_;
};

/// Says what is called, as communicators do: ranks that all make the same calls never seem to be mistaken,
/// however far ahead of each other they are (invariant 6).
class Caller {
 public:
  explicit Caller(CheckingMachine& m) : m_(m) {
    m.on_mistake(
        {[](void*, int) { Execution::current().fail(Wrong::error, "a flag seems to be of another call"); },
         nullptr});
  }
  void call(const Move& move, const Turn& t) {
    history_.add({Collective::barrier, t.root, t.bytes()});
    m_.begin_call(history_.fingerprint());
    move(m_, t);
  }

 private:
  CheckingMachine& m_;
  machine::CallHistory history_;
};

Body mixture(unsigned seed, std::shared_ptr<const Trees> places) {
  return [=](CheckingMachine& m) {
    Dice dice(seed);
    Caller caller(m);
    for (int round = 0; round < 8; ++round) {
      Plan plan =
          plan_for(dice.below(2) ? Algorithm::exchange : Algorithm::central, dice.below(2) ? 128 : 64);
      plan.read_from_parent = dice.below(2) == 0;
      plan.copy_avoidance = dice.below(2) == 0;
      const std::size_t count = counts[dice.below(counts.size())];
      const int root = dice.below(m.size());
      caller.call(moves[dice.below(moves.size())], {root, round, count, plan, *places});
    }
  };
}

/// Moves after which a rank may be far ahead of another: the reader of a gather, those behind the root of a
/// bcast.
constexpr std::array leaders_away = {Move{check_gather}, Move{check_scatter}, moves[3], moves[4]};

/// One of these, then another move, again and again, from changing roots.
Body followed(std::size_t away, std::size_t next, bool from_parent, std::shared_ptr<const Trees> places) {
  return [=](CheckingMachine& m) {
    Caller caller(m);
    for (int round = 0; round < 6; ++round) {
      Plan plan = plan_for(round % 4 < 2 ? Algorithm::exchange : Algorithm::central);
      plan.read_from_parent = from_parent;
      const std::size_t count = counts[static_cast<std::size_t>(round / 2) % counts.size()];
      const Move& move = round % 2 ? moves[next] : leaders_away[away];
      caller.call(move, {(round * 2) % 3 % m.size(), round, count, plan, *places});
    }
  };
}

/// What goes one way between two ranks, in slots of the ring or of its short form, as the writer likes
/// (memory/copy/ring_choice.hpp), and a scan, which does not.
Body one_way(unsigned seed, std::shared_ptr<const Trees> places) {
  return [=](CheckingMachine& m) {
    constexpr std::array kinds = {moves[3], moves[5], moves[10], Move{check_gather}, Move{check_scatter}};
    constexpr std::array<std::size_t, 4> lengths = {8, 15, 32, 40};  // words; the second and third in either
    Dice dice(seed);
    Caller caller(m);
    for (int round = 0; round < 12; ++round) {
      Plan plan =
          plan_for(dice.below(4) ? Algorithm::exchange : Algorithm::central, dice.below(2) ? 128 : 64);
      plan.read_from_parent = dice.below(2) == 0;
      const std::size_t count = lengths[dice.below(lengths.size())];
      caller.call(kinds[dice.below(kinds.size())], {dice.below(2), round, count, plan, *places});
    }
  };
}

std::vector<Scenario> short_rings(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (unsigned seed = 0; seed < 12 && ranks == 2; ++seed)
    all.push_back(
        make(formatted("one way {}", seed), ranks, fenced, {16, 128}, one_way(seed, trees(ranks, "chain"))));
  return all;
}

std::vector<Scenario> sequels(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto places = trees(ranks, "chain");
  for (std::size_t away = 0; away < leaders_away.size(); ++away)
    for (std::size_t next = 0; next < moves.size(); ++next)
      all.push_back(make(formatted("sequel {} {}", away, next), ranks, fenced, {1, 64},
                         followed(away, next, (away + next) % 3 > 0, places)));
  return all;
}

}  // namespace

// All algorithms share slots and steps: whatever follows whatever must find its slot free, and the fewer
// there are, the sooner it shows.
std::vector<Scenario> mixtures(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const Ring rings[] = {{1, 64}, two, narrow};
  for (unsigned seed = 0; seed < 12; ++seed) {
    all.push_back(make(formatted("mixture {}", seed), ranks, fenced, rings[seed % 3],
                       mixture(seed, trees(ranks, seed % 2 ? "kary:2" : "chain"))));
    if (seed % 6 == 5) all.back() = pairwise(all.back());
  }
  for (const auto part : {short_rings, sequels})
    for (Scenario& scenario : part(ranks, fenced)) all.push_back(std::move(scenario));
  return all;
}

std::vector<Scenario> scenarios(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const auto part : {wake_ups, barriers, broadcasts, reductions, prefixes, exchanges, rooted_moves,
                          mixtures, schedule, calls_under_way, levels, windows, letters, over_nodes,
                          allgathers_over_nodes, allreduces_through_windows})
    for (Scenario& scenario : part(ranks, fenced)) all.push_back(std::move(scenario));
  return all;
}

}  // namespace espalier::testing
