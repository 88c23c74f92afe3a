#include "collective/multinode/allgather_shared.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/uneven.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::Member;

struct Case {
  plan::NetworkPlan plan;
  bool together = true;  ///< where nodes have memory in common, the whole is put together there
  bool in_place = false;
  int carriers = 1;
};

void expect_allgather(Member& me, const std::vector<std::size_t>& counts, const Case& c, int round) {
  const testing::TreePositions places(counts);
  const Blocks blocks = places.view();
  std::vector<double> wanted(places.elements(), testing::untouched_value);
  for (int rank = 0; rank < me.size(); ++rank) {
    const auto theirs = testing::vector_of(rank, places.count(rank), round);
    std::copy(theirs.begin(), theirs.end(), wanted.begin() + static_cast<std::ptrdiff_t>(places.first(rank)));
  }
  testing::GuardedVector<double> own(testing::vector_of(me.rank(), places.count(me.rank()), round)),
      receive(std::vector<double>(places.elements(), testing::untouched_value));
  std::byte* position = receive.bytes() + blocks.offset_of(me.rank());
  if (c.in_place) std::memcpy(position, own.bytes(), own.size_bytes());
  const NodeOrder order = in_node_order(me.placement(), blocks);
  const Allgather<Blocks> call{
      me.rank(), c.in_place ? position : own.bytes(), receive.bytes(), blocks, me.placement(), order};
  const auto number = std::min(me.local_rank(), c.carriers - 1);
  if (c.together && me.machine()) {
    allgather_shared(*me.machine(), me.area(), me.counterparts(number), c.carriers, call,
                     me.node_plan(Collective::allgatherv, 1000), c.plan);
  } else {
    testing::Guarded whole(order.total());
    me.on_stage(
        [&](auto& stage) { allgather_by_leaders(stage, me.counterparts(0), call, whole.data(), c.plan); });
  }
  EXPECT_EQ(receive.values(), wanted)
      << "rank " << me.rank() << " of " << me.size() << ", " << plan::to_string(c.plan.algorithm) << ", "
      << c.carriers << " carriers";
}

plan::NetworkPlan plan_of(plan::Algorithm algorithm, std::size_t segment) {
  plan::NetworkPlan plan;
  plan.algorithm = algorithm;
  plan.segment = segment;
  return plan;
}

TEST(NodesAllgather, EveryDistributionEveryPlacement) {
  for (const testing::Setting& setting : testing::settings()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      int round = 0;
      for (const plan::Algorithm algorithm : {plan::Algorithm::dissemination, plan::Algorithm::ring})
        for (const std::size_t mean : {1, 9, 700})
          for (const auto& distribution : testing::distributions(me.size(), mean))
            expect_allgather(me, distribution.counts, {plan_of(algorithm, 512), true, ++round % 3 == 0, 1},
                             round);
    });
  }
}

TEST(NodesAllgather, SeveralRanksOfANodeCarry) {
  for (const testing::Setting& setting : testing::settings()) {
    if (setting.within != testing::Within::shared_memory) continue;
    testing::World world(setting);
    world.run([&](Member& me) {
      const auto most = static_cast<int>(me.placement().smallest());
      for (int carriers = 1; carriers <= most; ++carriers)
        for (const auto& distribution : testing::distributions(me.size(), 300))
          expect_allgather(me, distribution.counts,
                           {plan_of(plan::Algorithm::ring, 400), true, false, carriers}, carriers);
    });
  }
}

// A node that had no memory left goes with the others.
TEST(NodesAllgather, SomeNodesByLeadersOthersTogether) {
  for (const testing::Setting& setting : testing::settings()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      for (const plan::Algorithm algorithm : {plan::Algorithm::dissemination, plan::Algorithm::ring})
        for (const auto& distribution : testing::distributions(me.size(), 80))
          expect_allgather(me, distribution.counts, {plan_of(algorithm, 256), me.node() % 2 == 0, false, 1},
                           5);
    });
  }
}

TEST(NodesAllgather, ManyCallsInARowShareTheArea) {
  for (const testing::Setting& setting : testing::settings()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      for (int round = 0; round < 60; ++round) {
        const auto all = testing::distributions(me.size(), static_cast<std::size_t>(1 + round % 50));
        const bool ring = round % 3 != 0;
        const int carriers = ring && setting.within == testing::Within::shared_memory
                                 ? static_cast<int>(me.placement().smallest())
                                 : 1;
        expect_allgather(me, all[static_cast<std::size_t>(round) % all.size()].counts,
                         {plan_of(ring ? plan::Algorithm::ring : plan::Algorithm::dissemination, 100), true,
                          false, carriers},
                         round);
      }
    });
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
