// Every algorithm on 2 to 9 ranks, over message sizes around the borders of lines, slots and rings, with
// every switch of RG's optimisations on and off.
#include <atomic>
#include <mutex>
#include <numeric>
#include <set>

#include "collective/dispatch.hpp"
#include "collective/node/barrier.hpp"
#include "collective/node/reductions/allreduce.hpp"
#include "collective/node/reductions/allreduce_central.hpp"
#include "collective/node/reductions/allreduce_exchange.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"
#include "collective/node/reductions/reduce.hpp"
#include "collective/node/rooted/bcast.hpp"
#include "collective/node/rooted/bcast_single_copy.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/full.hpp"
#include "tree/compose.hpp"

namespace espalier::collective {
namespace {

using testing::Ranks;
using testing::WatchedMachine;

const reduce::Operation& sum_of_doubles() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

// Element counts: nothing, one, inline or not, one slot (512 doubles), several chunks, more than a ring (8 x
// 512).
const std::vector<std::size_t> counts = {0, 1, 3, 14, 15, 100, 512, 513, 1500, 5000};

struct Switches {
  bool inlined, read_from_parent, skip_gather, copy_avoidance;
  std::size_t chunk;
};

const std::vector<Switches> all_switches = {
    {true, true, true, true, 4096},     {false, true, true, true, 1024}, {true, false, true, true, 4096},
    {true, true, false, true, 4096},    {true, true, true, false, 512},  {false, false, false, false, 4096},
    {true, true, true, true, 4096 * 3}, {true, true, true, true, 64},
};

Plan plan_with(const Switches& s) {
  Plan plan;
  plan.inlined = s.inlined;
  plan.read_from_parent = s.read_from_parent;
  plan.skip_gather = s.skip_gather;
  plan.copy_avoidance = s.copy_avoidance;
  plan.chunk = s.chunk;
  return plan;
}

// Trees of every rank for every root, kept as long as the ranks' machines: lent slots refer to them.
class Trees {
 public:
  Trees(int ranks, const char* text) {
    for (int root = 0; root < ranks; ++root) {
      const tree::Tree tree = tree::compose(topology::flat_group(ranks), tree::parse_spec(text), root);
      for (int rank = 0; rank < ranks; ++rank) places_.push_back(position_of(tree, rank));
    }
    ranks_ = ranks;
  }
  const TreePosition& of(int rank, int root) const {
    return places_[static_cast<std::size_t>(root * ranks_ + rank)];
  }

 private:
  int ranks_;
  std::vector<TreePosition> places_;
};

/// Of many ranks the first, one between and the last: the roots between differ by where they stand in a tree, which
/// those of fewer ranks do, too. All of them in `make test-full`.
std::vector<int> roots_of(int ranks) {
  if (ranks > 5 && !testing::full()) return {0, ranks / 2, ranks - 1};
  std::vector<int> roots(static_cast<std::size_t>(ranks));
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

class Collectives : public ::testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
  void expect_equal(const WatchedMachine& m, const std::vector<double>& got,
                    const std::vector<double>& wanted, const char* what) {
    if (got == wanted) return;
    const std::lock_guard lock(mutex_);
    ADD_FAILURE() << what << " on rank " << m.rank() << " of " << n() << ", " << wanted.size() << " elements";
  }
  std::mutex mutex_;
};

TEST_P(Collectives, BcastFromEveryRoot) {
  for (const char* text : {"flat", "kary:2", "chain", "knomial:3 skew=right"}) {
    const Trees trees(n(), text);
    Ranks ranks(n());
    for (const Switches& switches : all_switches) {
      const Plan plan = plan_with(switches);
      ranks.run([&](WatchedMachine& m) {
        for (int round = 0; round < 3; ++round)
          for (const std::size_t count : counts)
            for (const int root : roots_of(n())) {
              auto data = testing::vector_of(m.rank(), count, round);
              bcast_tree(m, trees.of(m.rank(), root), data.data(), count * 8, plan);
              expect_equal(m, data, testing::vector_of(root, count, round), "bcast");
            }
      });
    }
  }
}

// One copy needs no slot; the tree carries the address.
TEST_P(Collectives, DirectBcastFromEveryRoot) {
  for (const char* text : {"flat", "kary:2", "chain"}) {
    const Trees trees(n(), text);
    Ranks ranks(n());
    if (!ranks.single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
    for (const Switches& switches : all_switches) {
      const Plan plan = plan_with(switches);
      ranks.run([&](WatchedMachine& m) {
        for (int round = 0; round < 3; ++round)
          for (const std::size_t count : counts)
            for (const int root : roots_of(n())) {
              auto data = testing::vector_of(m.rank(), count, round);
              bcast_single_copy(m, trees.of(m.rank(), root), data.data(), count * 8, plan);
              expect_equal(m, data, testing::vector_of(root, count, round), "direct bcast");
              // The root's buffer is its own again as soon as it has left.
              std::fill(data.begin(), data.end(), -7.0);
            }
      });
    }
  }
}

TEST_P(Collectives, DirectBcastOfUnreadableMemoryGoesThroughSlots) {
  const Trees trees(n(), "kary:2");
  Ranks ranks(n());
  const Plan plan;
  ranks.run([&](WatchedMachine& m) {
    testing::Unreadable watcher;
    WatchedMachine unreadable(m, watcher);
    for (const std::size_t count : counts) {
      auto data = testing::vector_of(m.rank(), count, 0);
      bcast_single_copy(unreadable, trees.of(m.rank(), 0), data.data(), count * 8, plan);
      expect_equal(m, data, testing::vector_of(0, count, 0), "direct bcast");
    }
  });
}

TEST_P(Collectives, ReduceToEveryRoot) {
  for (const char* text : {"flat", "kary:2 skew=right", "chain", "knomial:4"}) {
    const Trees trees(n(), text);
    Ranks ranks(n());
    for (const Switches& switches : all_switches) {
      const Plan plan = plan_with(switches);
      ranks.run([&](WatchedMachine& m) {
        for (int round = 0; round < 3; ++round)
          for (const std::size_t count : counts)
            for (const int root : roots_of(n())) {
              const auto send = testing::vector_of(m.rank(), count, round);
              std::vector<double> receive(count, -1.0);
              reduce_tree(m, trees.of(m.rank(), root),
                          {send.data(), receive.data(), count * 8, sum_of_doubles()}, plan);
              const bool is_root = m.rank() == root;
              expect_equal(m, receive,
                           is_root ? testing::sum_of(n(), count, round) : std::vector<double>(count, -1.0),
                           "reduce");
            }
      });
    }
  }
}

using Allreduce = std::function<void(WatchedMachine&, const Reduction&, const Plan&)>;

void check_allreduce(int n, const Allreduce& allreduce,
                     const std::function<void(const WatchedMachine&, const std::vector<double>&,
                                              const std::vector<double>&)>& expect) {
  Ranks ranks(n);
  for (const Switches& switches : all_switches) {
    const Plan plan = plan_with(switches);
    ranks.run([&](WatchedMachine& m) {
      for (int round = 0; round < 6; ++round)
        for (const std::size_t count : counts) {
          auto send = testing::vector_of(m.rank(), count, round);
          std::vector<double> receive(count, -1.0);
          const bool in_place = round % 2 == 1;
          allreduce(m, {send.data(), in_place ? send.data() : receive.data(), count * 8, sum_of_doubles()},
                    plan);
          expect(m, in_place ? send : receive, testing::sum_of(n, count, round));
        }
    });
  }
}

TEST_P(Collectives, AllreduceExchange) {
  check_allreduce(
      n(), [](auto& m, auto& r, auto& plan) { allreduce_exchange(m, r, plan); },
      [&](auto& m, auto& got, auto& wanted) { expect_equal(m, got, wanted, "allreduce exchange"); });
}
TEST_P(Collectives, AllreduceCentral) {
  check_allreduce(
      n(), [](auto& m, auto& r, auto& plan) { allreduce_central(m, r, plan); },
      [&](auto& m, auto& got, auto& wanted) { expect_equal(m, got, wanted, "allreduce central"); });
}
TEST_P(Collectives, AllreduceSliced) {
  check_allreduce(
      n(), [](auto& m, auto& r, auto& plan) { allreduce_sliced(m, r, plan); },
      [&](auto& m, auto& got, auto& wanted) { expect_equal(m, got, wanted, "allreduce sliced"); });
}
TEST_P(Collectives, AllreduceTree) {
  for (const char* text : {"flat", "kary:2", "chain"}) {
    const Trees up(n(), text), down(n(), "kary:3");
    check_allreduce(
        n(),
        [&](auto& m, auto& r, auto& plan) {
          allreduce_tree(m, up.of(m.rank(), 0), down.of(m.rank(), 0), r, plan);
        },
        [&](auto& m, auto& got, auto& wanted) { expect_equal(m, got, wanted, "allreduce tree"); });
  }
}

// Who leaves before all have come is caught by a counter, whatever the timing.
TEST_P(Collectives, BarrierHoldsEverybody) {
  const Trees up(n(), "kary:2"), down(n(), "knomial:2");
  for (int algorithm = 0; algorithm < 3; ++algorithm) {
    Ranks ranks(n());
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
    ranks.run([&](WatchedMachine& m) {
      for (int round = 1; round <= 300; ++round) {
        if ((m.rank() + round) % 7 == 0) std::this_thread::yield();
        arrived.fetch_add(1);
        if (algorithm == 0) barrier_exchange(m);
        if (algorithm == 1) barrier_central(m);
        if (algorithm == 2) barrier_tree(m, up.of(m.rank(), 0), down.of(m.rank(), 0), Plan{});
        if (arrived.load() < round * n()) early.fetch_add(1);
      }
    });
    EXPECT_EQ(early.load(), 0) << "algorithm " << algorithm;
  }
}

// All algorithms share slots and steps: whatever follows whatever must find its slot free and its data whole,
// also when chunks of one slot and of several follow each other.
TEST_P(Collectives, AnyOrderOfAlgorithms) {
  const Trees trees(n(), "kary:2");
  Ranks ranks(n(), 4, 4096);
  const Plan plans[] = {plan_with({true, true, true, true, 4096}), plan_with({true, true, true, true, 16384}),
                        plan_with({true, true, true, true, 8192})};
  ranks.run([&](WatchedMachine& m) {
    unsigned random = 12345;  // the same on all ranks
    for (int round = 0; round < 2000; ++round) {
      random = random * 1664525u + 1013904223u;
      const Plan& plan = plans[(random >> 12) % 3];
      const std::size_t count = counts[(random >> 8) % counts.size()];
      const int root = static_cast<int>((random >> 16) % static_cast<unsigned>(n()));
      const auto sum = testing::sum_of(n(), count, round);
      auto data = testing::vector_of(m.rank(), count, round);
      const Reduction r = {data.data(), data.data(), count * 8, sum_of_doubles()};
      const TreePosition& position = trees.of(m.rank(), root);
      const auto any_of = [&](Collective collective) {
        const auto known = plan::algorithms_of(plan::Scope::node, collective);
        Plan with = plan;
        with.algorithm = known[1 + (random >> 4) % (known.size() - 1)];  // the first is the host
        return with;
      };
      const auto at_root = [&](const Plan&, int) { return TreePositionPair{position, position}; };
      switch ((random >> 24) % 8) {
        case 0:
        case 1:
          by_plan::barrier(m, at_root, any_of(Collective::barrier));
          break;
        case 2:
          bcast_tree(m, position, data.data(), count * 8, plan);
          expect_equal(m, data, testing::vector_of(root, count, round), "bcast");
          break;
        case 3:
          by_plan::reduce(m, position, r, any_of(Collective::reduce));
          if (m.rank() == root) expect_equal(m, data, sum, "reduce");
          break;
        default:
          const Plan with = any_of(Collective::allreduce);
          by_plan::allreduce(m, at_root, r, with);
          expect_equal(m, data, sum, std::string(to_string(with.algorithm)).c_str());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, ::testing::Values(2, 3, 4, 5, 9));

}  // namespace
}  // namespace espalier::collective
