#include "collective/multinode/allgather_window.hpp"

#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/uneven.hpp"
#include "tests/collective/multinode/window_world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::in_every_setting;
using testing::Member;
using testing::PretendedWindows;

/// How a call goes about it.
struct How {
  std::size_t block;
  int carriers = 100;
  bool exposed = false;  ///< no rank copies out
};

void expect_allgather(Member& me, PretendedWindows::Window& window, WindowUse& use,
                      const std::vector<std::size_t>& counts, const How& how, int round) {
  const testing::TreePositions places(counts);
  const Blocks blocks = places.view();
  std::vector<double> wanted(places.elements(), testing::untouched_value);
  for (int rank = 0; rank < me.size(); ++rank) {
    const auto theirs = testing::vector_of(rank, places.count(rank), round);
    std::copy(theirs.begin(), theirs.end(), wanted.begin() + static_cast<std::ptrdiff_t>(places.first(rank)));
  }
  testing::GuardedVector<double> own(testing::vector_of(me.rank(), places.count(me.rank()), round)),
      receive(std::vector<double>(places.elements(), testing::untouched_value));
  const NodeOrder order = in_node_order(me.placement(), blocks);
  const Allgather<Blocks> call{me.rank(), own.bytes(),    how.exposed ? nullptr : receive.bytes(),
                               blocks,    me.placement(), order};
  testing::with_node(me, [&](auto node) {
    AllgatherWindow ring(window, use, call, node, how.carriers, how.block);
    ring.run();
    if (!how.exposed) return;
    for (int rank = 0; rank < me.size(); ++rank)
      if (places.count(rank) > 0)
        std::memcpy(receive.bytes() + blocks.offset_of(rank), ring.whole() + order.begin_of(rank),
                    blocks.bytes_of(rank));
  });
  EXPECT_EQ(receive.values(), wanted) << "rank " << me.rank() << " of " << me.size() << ", round " << round;
}

TEST(NodesAllgatherWindow, EveryDistributionEveryPlacement) {
  in_every_setting(1, 65536, [](Member& me, auto& window, WindowUse& use) {
    int round = 0;
    for (const std::size_t mean : {1, 9, 700})
      for (const auto& distribution : testing::distributions(me.size(), mean))
        expect_allgather(me, window, use, distribution.counts, {512}, ++round);
  });
}

TEST(NodesAllgatherWindow, ManyCallsInARowTakeTheHalvesInTurns) {
  in_every_setting(1, 256, [](Member& me, auto& window, WindowUse& use) {
    use.calls = 0xffffffff - 60;  // the number of calls wraps around
    for (int round = 0; round < 120; ++round) {
      const auto all = testing::distributions(me.size(), static_cast<std::size_t>(1 + round % 30));
      expect_allgather(me, window, use, all[static_cast<std::size_t>(round) % all.size()].counts, {64},
                       round);
    }
  });
}

TEST(NodesAllgatherWindow, BlocksGrowWhereThereAreFewNumbers) {
  in_every_setting(1, 32, [](Member& me, auto& window, WindowUse& use) {
    for (int round = 0; round < 4; ++round)
      for (const auto& distribution : testing::distributions(me.size(), 2000))
        expect_allgather(me, window, use, distribution.counts, {8}, round);
  });
}

TEST(NodesAllgatherWindow, ANodesBlocksByOneOrByMoreOfItsRanks) {
  in_every_setting(1, 4096, [](Member& me, auto& window, WindowUse& use) {
    int round = 0;
    for (const int carriers : {1, 2, 3})
      for (const auto& distribution : testing::distributions(me.size(), 300))
        expect_allgather(me, window, use, distribution.counts, {256, carriers}, ++round);
  });
}

// What one call has put together stays until the rank's next, however far others of its node have gone on.
TEST(NodesAllgatherWindow, TheWholeCanBeReadWhereItLies) {
  in_every_setting(1, 4096, [](Member& me, auto& window, WindowUse& use) {
    for (int round = 0; round < 40; ++round) {
      const auto all = testing::distributions(me.size(), static_cast<std::size_t>(1 + round * 7));
      expect_allgather(me, window, use, all[static_cast<std::size_t>(round) % all.size()].counts,
                       {64, 2, true}, round);
    }
  });
}

TEST(NodesAllgatherWindow, AHalfHasTheRoomItWasMadeFor) {
  for (const std::size_t room : {1UL, 63UL, 64UL, 4097UL, 1000000UL})
    for (const int ids : {16, 17, 256, 8192}) {
      const std::size_t bytes = WindowHalf::segment_bytes(room, ids);
      const WindowHalf first(bytes, ids, 2), second(bytes, ids, 3);
      EXPECT_GE(first.room(), room);
      EXPECT_LE(first.data() + first.room(), second.mark(0));
      EXPECT_LE(second.data() + second.room(), bytes);
      EXPECT_LT(second.id(second.most_blocks() - 1), ids);
    }
}

}  // namespace
}  // namespace espalier::collective::multinode
