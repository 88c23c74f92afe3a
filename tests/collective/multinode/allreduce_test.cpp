#include "collective/multinode/allreduce.hpp"

#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/same_bits.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using plan::Algorithm;
using testing::Guarded;
using testing::GuardedVector;
using testing::Member;

constexpr Algorithm algorithms[] = {Algorithm::tree, Algorithm::recursive_doubling, Algorithm::rabenseifner,
                                    Algorithm::ring, Algorithm::gather_all,         Algorithm::dissemination};

/// By one leader a node where `leaders` is 0, else split among so many. The scratch is what the drivers say
/// they need.
template <class T>
std::vector<T> run(Member& me, const std::vector<T>& values, reduce::Type type, bool in_place, int leaders,
                   const plan::NetworkPlan& plan) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, type);
  GuardedVector<T> send(values), result(values.size());
  if (in_place) result.assign(values);
  const Member::Roles roles = me.roles("kary:2", 0);
  const std::size_t longest = Segments(send.size_bytes(), plan.segment, sizeof(T)).longest();
  const std::size_t lane = leaders == 0 ? longest : longest / static_cast<std::size_t>(leaders) + sizeof(T);
  const bool leads = me.local_rank() < std::max(1, leaders);
  Guarded scratch(
      leads ? segments_under_way * lane *
                  scratch_vectors(plan.algorithm, me.node(), me.placement().nodes(), roles.position, sum)
            : 0);
  const Reduction reduction = {in_place ? result.bytes() : send.bytes(), result.bytes(), send.size_bytes(),
                               sum};
  me.on_stage([&]<class Stage>(Stage& stage) {
    if constexpr (SplittingStage<Stage>)
      if (leaders > 0)
        return allreduce_split(stage, me.counterparts(std::min(me.local_rank(), leaders - 1)), leaders,
                               roles.position, reduction, scratch.data(), plan);
    allreduce(stage, me.counterparts(0), roles.position, reduction, scratch.data(), plan);
  });
  EXPECT_EQ(send.values(), values) << "rank " << me.rank() << " lost what it sent";
  return result.values();
}

std::string describe(const testing::Setting& setting, std::size_t count, int leaders,
                     const plan::NetworkPlan& plan) {
  return std::string(setting.name) + ", " + std::to_string(count) + " elements, " + std::to_string(leaders) +
         " leaders, " + std::string(plan::to_string(plan.algorithm));
}

template <class Check>
void on_all(const testing::Setting& setting, int leaders, Check check) {
  testing::World world(setting);
  world.run([&](Member& me) {
    plan::NetworkPlan plan;
    plan.segment = testing::segment_bytes;
    for (const Algorithm algorithm : algorithms) {
      plan.algorithm = algorithm;
      for (const std::size_t count : testing::segment_counts()) check(me, count, leaders, plan);
    }
  });
}

void expect_right(const testing::Setting& setting, int most_leaders) {
  for (int leaders = most_leaders == 0 ? 0 : 2; leaders <= most_leaders; ++leaders)
    on_all(setting, leaders, [&](Member& me, std::size_t count, int by, const plan::NetworkPlan& plan) {
      for (const bool in_place : {false, true})
        EXPECT_EQ(run(me, testing::vector_of(me.rank(), count, 5), reduce::Type::float64, in_place, by, plan),
                  testing::sum_of(me.size(), count, 5))
            << "rank " << me.rank() << ": " << describe(setting, count, by, plan);
    });
}

void expect_same_bits(testing::Setting setting, int leaders) {
  testing::SameBits bits;
  for (const std::uint64_t seed : {7, 8}) {
    setting.seed = seed;
    on_all(setting, leaders, [&](Member& me, std::size_t count, int by, const plan::NetworkPlan& plan) {
      const auto got = run(me, testing::floats_of(me.rank(), count), reduce::Type::float32, false, by, plan);
      bits.expect(describe(setting, count, by, plan), got);
    });
  }
}

/// Those whose nodes have several ranks each, which share memory.
std::vector<testing::Setting> splitting() {
  return {{"block", {0, 0, 0, 1, 1, 1}, testing::Within::shared_memory, 11},
          {"cyclic", {0, 1, 2, 0, 1, 2, 0}, testing::Within::shared_memory, 12, 4},
          {"all on one node", {0, 0, 0, 0}, testing::Within::shared_memory, 13}};
}
int smallest(const testing::Setting& setting) {
  return static_cast<int>(place_by(setting.node_of).smallest());
}

TEST(NodesAllreduce, IsRight) {
  for (const testing::Setting& setting : testing::settings()) expect_right(setting, 0);
}

TEST(NodesAllreduce, GivesTheSameBitsEverywhereUnderEverySeed) {
  for (const testing::Setting& setting : testing::settings()) expect_same_bits(setting, 0);
}

TEST(NodesAllreduce, SplitAmongLeadersIsRight) {
  for (const testing::Setting& setting : splitting()) expect_right(setting, smallest(setting));
}

TEST(NodesAllreduce, SplitAmongLeadersGivesTheSameBitsEverywhereUnderEverySeed) {
  for (const testing::Setting& setting : splitting()) expect_same_bits(setting, smallest(setting));
}

TEST(NodesAllreduce, SegmentsLongerThanANodesRing) {
  constexpr std::size_t count = 20000;
  for (const testing::Setting& setting : splitting()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      plan::NetworkPlan plan;
      plan.segment = 50001;
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::rabenseifner})
        for (const int leaders : {0, 2}) {
          plan.algorithm = algorithm;
          EXPECT_EQ(
              run(me, testing::vector_of(me.rank(), count, 6), reduce::Type::float64, true, leaders, plan),
              testing::sum_of(me.size(), count, 6))
              << "rank " << me.rank() << ": " << describe(setting, count, leaders, plan);
        }
    });
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
