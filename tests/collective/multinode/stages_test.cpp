// The node stages by themselves: whatever the drivers may ask of them, at every leader.
#include <atomic>

#include "tests/collective/affine.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::Affine;
using testing::GuardedVector;
using testing::Member;
using testing::Within;

const reduce::Operation& sum() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

constexpr std::size_t stage_counts[] = {1, 14, 37, 600, 9000};

/// Five ranks of one node; body(member, stage, leader) for every leader.
template <class Body>
void on_a_node(Within within, Body body) {
  testing::World world({"one node", {0, 0, 0, 0, 0}, within, 17});
  world.run([&](Member& me) {
    me.on_stage([&](auto& stage) {
      for (int leader = 0; leader < me.size(); ++leader) body(me, stage, leader);
    });
  });
}

class Stages : public ::testing::TestWithParam<Within> {
 protected:
  template <class Body>
  void at_every_leader(Body body) {
    on_a_node(GetParam(), body);
  }
};

TEST_P(Stages, MeetCallsTheLeaderBeforeAnybodyLeaves) {
  std::atomic<int> came = 0, called = 0;
  at_every_leader([&](Member& me, auto& stage, int leader) {
    ++came;
    stage.meet(leader, [&] {
      EXPECT_EQ(me.rank(), leader);
      EXPECT_GE(came.load(), (leader + 1) * me.size());
      ++called;
    });
    EXPECT_GE(called.load(), leader + 1);
  });
  EXPECT_EQ(called.load(), 5);
}

TEST_P(Stages, Bcast) {
  at_every_leader([&](Member& me, auto& stage, int leader) {
    for (const std::size_t count : stage_counts) {
      const auto wanted = testing::vector_of(leader, count, 1);
      GuardedVector<double> data(count);
      if (me.rank() == leader) data.assign(wanted);
      stage.bcast(leader, data.bytes(), data.size_bytes());
      EXPECT_EQ(data.values(), wanted) << "leader " << leader << ", rank " << me.rank();
    }
  });
}

TEST_P(Stages, Reduce) {
  at_every_leader([&](Member& me, auto& stage, int leader) {
    for (const std::size_t count : stage_counts)
      for (const bool in_place : {false, true}) {
        const bool leads = me.rank() == leader;
        GuardedVector<double> send(testing::vector_of(me.rank(), count, 2)), result(leads ? count : 0);
        if (leads && in_place) result.assign(send.values());
        stage.reduce(leader, leads && in_place ? result.bytes() : send.bytes(),
                     leads ? result.bytes() : nullptr, send.size_bytes(), sum());
        if (leads) {
          EXPECT_EQ(result.values(), testing::sum_of(me.size(), count, 2)) << "leader " << leader;
        }
        EXPECT_EQ(send.values(), testing::vector_of(me.rank(), count, 2));
      }
  });
}

TEST_P(Stages, ReduceWholeKeepsRankOrder) {
  at_every_leader([&](Member& me, auto& stage, int leader) {
    for (const std::size_t count : stage_counts) {
      GuardedVector<Affine> send(testing::maps_of(me.rank(), count)), result(me.rank() == leader ? count : 0);
      testing::Length length{count};
      stage.reduce_whole(leader, send.bytes(), me.rank() == leader ? result.bytes() : nullptr,
                         send.size_bytes(), {testing::combine_affine, &length});
      if (me.rank() == leader) {
        EXPECT_EQ(result.values(), testing::composed(0, me.size() - 1, count)) << "leader " << leader;
      }
    }
  });
}

TEST_P(Stages, Scan) {
  at_every_leader([&](Member& me, auto& stage, int) {
    for (const std::size_t count : stage_counts)
      for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive})
        for (const bool in_place : {false, true}) {
          const auto values = testing::vector_of(me.rank(), count, 3);
          GuardedVector<double> send(values), result(count);
          if (in_place) result.assign(values);
          stage.scan(in_place ? result.bytes() : send.bytes(), result.bytes(), send.size_bytes(), sum(),
                     prefix);
          const int vectors = me.rank() + (prefix == Prefix::inclusive ? 1 : 0);
          if (vectors > 0) {
            EXPECT_EQ(result.values(), testing::sum_of(vectors, count, 3)) << "rank " << me.rank();
          } else if (!in_place) {
            EXPECT_TRUE(result.is_untouched());
          }
        }
  });
}

TEST_P(Stages, ScanWholeKeepsRankOrder) {
  at_every_leader([&](Member& me, auto& stage, int) {
    for (const std::size_t count : stage_counts)
      for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) {
        GuardedVector<Affine> send(testing::maps_of(me.rank(), count)), result(count);
        testing::Length length{count};
        stage.scan_whole(send.bytes(), result.bytes(), send.size_bytes(), {testing::combine_affine, &length},
                         prefix);
        const int last = me.rank() - (prefix == Prefix::inclusive ? 0 : 1);
        if (last >= 0) {
          EXPECT_EQ(result.values(), testing::composed(0, last, count)) << "rank " << me.rank();
        } else {
          EXPECT_TRUE(result.is_untouched());
        }
      }
  });
}

TEST_P(Stages, GatherAndScatter) {
  at_every_leader([&](Member& me, auto& stage, int leader) {
    for (const std::size_t count : stage_counts) {
      const bool leads = me.rank() == leader;
      const auto n = static_cast<std::size_t>(me.size());
      GuardedVector<double> send(testing::vector_of(me.rank(), count, 4)), blocks(leads ? n * count : 0),
          back(count);
      stage.gather(leader, send.bytes(), leads ? blocks.bytes() : nullptr, send.size_bytes());
      if (leads) {
        std::vector<double> wanted;
        for (int rank = 0; rank < me.size(); ++rank)
          for (const double value : testing::vector_of(rank, count, 4)) wanted.push_back(value);
        EXPECT_EQ(blocks.values(), wanted) << "leader " << leader;
      }
      stage.scatter(leader, leads ? blocks.bytes() : nullptr, back.bytes(), send.size_bytes());
      EXPECT_EQ(back.values(), send.values()) << "rank " << me.rank() << ", leader " << leader;
    }
  });
}

// By messages nodes do not split.
TEST(SharedStage, SlicesThereAndBack) {
  on_a_node(Within::shared_memory, []<class Stage>(Member& me, Stage& stage, int leader) {
    const int leaders = leader + 1;
    if constexpr (SplittingStage<Stage>) {
      for (const std::size_t count : stage_counts)
        for (const bool in_place : {false, true}) {
          const auto values = testing::vector_of(me.rank(), count, 5);
          const Slices slices(count * sizeof(double), sizeof(double), leaders);
          GuardedVector<double> send(values), vector(count);
          if (in_place) vector.assign(values);
          stage.reduce_scatter(in_place ? vector.bytes() : send.bytes(), vector.bytes(), slices, sum());
          stage.allgather(vector.bytes(), slices);
          EXPECT_EQ(vector.values(), testing::sum_of(me.size(), count, 5))
              << leaders << " leaders, rank " << me.rank();
        }
    } else {
      ADD_FAILURE() << "the stage of shared memory should split";
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Nodes, Stages, ::testing::Values(Within::shared_memory, Within::messages),
                         [](const auto& one) {
                           return one.param == Within::messages ? "messages" : "shared_memory";
                         });

}  // namespace
}  // namespace espalier::collective::multinode
