#include "collective/multinode/allreduce_window.hpp"

#include "collective/multinode/allgather_window.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/window_world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::GuardedVector;
using testing::in_every_setting;
using testing::Member;
using testing::PretendedWindows;

/// How a call goes about it.
struct Ring {
  std::size_t block;
  int carriers = 100;
  bool in_place = false;
};

template <class T>
std::vector<T> allreduce(Member& me, PretendedWindows::Window& window, WindowUse& use,
                         const std::vector<T>& values, reduce::Type type, const Ring& how) {
  GuardedVector<T> send(values), result(values.size());
  if (how.in_place) result.assign(values);
  const Reduction reduction = {how.in_place ? result.bytes() : send.bytes(), result.bytes(),
                               send.size_bytes(), *reduce::find(reduce::Op::sum, type)};
  me.on_stage([&](auto& stage) {
    const auto fold_node = testing::fold_of_node<T>(stage, reduction);
    testing::with_node(me, [&](auto node) {
      AllreduceWindow(window, use, reduction, node, fold_node, how.carriers, how.block).run();
    });
  });
  EXPECT_EQ(send.values(), values) << "rank " << me.rank() << " lost what it sent";
  return result.values();
}

void expect_allreduce(Member& me, PretendedWindows::Window& window, WindowUse& use, std::size_t count,
                      const Ring& how, int round) {
  EXPECT_EQ(
      allreduce(me, window, use, testing::vector_of(me.rank(), count, round), reduce::Type::float64, how),
      testing::sum_of(me.size(), count, round))
      << "rank " << me.rank() << " of " << me.size() << ", " << count << " elements, round " << round;
}

/// One element, fewer than nodes, unequal slices, several blocks a slice.
constexpr std::size_t ring_counts[] = {1, 2, 7, 64, 1000, 4099};

TEST(NodesAllreduceWindow, EveryLengthEveryPlacement) {
  in_every_setting(2, 4096, [](Member& me, auto& window, WindowUse& use) {
    int round = 0;
    for (const std::size_t count : ring_counts)
      for (const bool in_place : {false, true})
        for (const int carriers : {1, 2, 100})
          expect_allreduce(me, window, use, count, {512, carriers, in_place}, ++round);
  });
}

TEST(NodesAllreduceWindow, ManyCallsInARowTakeTheHalvesInTurns) {
  in_every_setting(2, 256, [](Member& me, auto& window, WindowUse& use) {
    use.calls = 0xffffffff - 60;  // the number of calls wraps around
    for (int round = 0; round < 120; ++round)
      expect_allreduce(me, window, use, static_cast<std::size_t>(1 + round * 7 % 90), {64}, round);
  });
}

TEST(NodesAllreduceWindow, BlocksGrowWhereThereAreFewNumbers) {
  in_every_setting(2, 40, [](Member& me, auto& window, WindowUse& use) {
    for (int round = 0; round < 6; ++round) expect_allreduce(me, window, use, 3000, {8}, round);
  });
}

TEST(NodesAllreduceWindow, BlocksShorterThanAnElement) {
  in_every_setting(2, 4096, [](Member& me, auto& window, WindowUse& use) {
    expect_allreduce(me, window, use, 100, {1}, 1);
  });
}

TEST(NodesAllreduceWindow, TheSameBitsEverywhereAndEachTime) {
  testing::expect_same_bits_everywhere(
      ring_counts, [](Member& me, auto& window, WindowUse& use, const std::vector<float>& own, int round) {
        return allreduce(me, window, use, own, reduce::Type::float32, {512, 100, round % 2 == 1});
      });
}

// Both kinds of calls of a communicator go through one window.
TEST(NodesAllreduceWindow, InTurnsWithAllgathers) {
  in_every_setting(2, 1024, [](Member& me, auto& window, WindowUse& use) {
    for (int round = 0; round < 40; ++round) {
      const std::vector<double> own = testing::vector_of(me.rank(), 5, round);
      std::vector<double> all(5 * static_cast<std::size_t>(me.size()));
      const EqualBlocks blocks{own.size() * sizeof(double)};
      const NodeOrder order = in_node_order(me.placement(), blocks);
      const Allgather<EqualBlocks> call{me.rank(), own.data(), all.data(), blocks, me.placement(), order};
      testing::with_node(me, [&](auto node) { AllgatherWindow(window, use, call, node, 100, 16).run(); });
      for (int rank = 0; rank < me.size(); ++rank) {
        const std::vector<double> theirs = testing::vector_of(rank, 5, round);
        EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), all.begin() + 5 * rank));
      }
      for (int some = 0; some < round % 3; ++some)
        expect_allreduce(me, window, use, static_cast<std::size_t>(30 + round), {64}, round + some);
    }
  });
}

TEST(NodesAllreduceWindow, TheLongestVectorFits) {
  for (const std::size_t room : {1000UL, 4096UL, 8UL << 20})
    for (const std::size_t extent : {1UL, 3UL, 8UL, 16UL, 100UL}) {
      const std::size_t longest = longest_vector(room, extent);
      EXPECT_EQ(longest % extent, 0U);
      EXPECT_LE(vector_room(longest), room);
      EXPECT_GT(longest + extent + 64, room / 2 - 64);
    }
}

}  // namespace
}  // namespace espalier::collective::multinode
