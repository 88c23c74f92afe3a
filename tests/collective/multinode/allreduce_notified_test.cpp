#include "collective/multinode/allreduce_notified.hpp"

#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/window_world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::GuardedVector;
using testing::in_every_setting;
using testing::Member;
using testing::PretendedWindows;

template <class T>
std::vector<T> allreduce_of(Member& me, PretendedWindows::Window& window, WindowUse& use,
                            const std::vector<T>& values, reduce::Type type, int slices, bool in_place) {
  GuardedVector<T> send(values), result(values.size());
  if (in_place) result.assign(values);
  const Reduction reduction = {in_place ? result.bytes() : send.bytes(), result.bytes(), send.size_bytes(),
                               *reduce::find(reduce::Op::sum, type)};
  std::vector<std::byte> memory;
  me.on_stage([&](auto& stage) {
    const auto fold_node = testing::fold_of_node<T>(stage, reduction);
    const auto scratch = [&](std::size_t bytes) { return memory.resize(bytes), memory.data(); };
    testing::with_node(me, [&](auto node) {
      AllreduceNotified(window, use, reduction, node, fold_node, scratch, slices).run();
    });
  });
  EXPECT_EQ(send.values(), values) << "rank " << me.rank() << " lost what it sent";
  return result.values();
}

/// One element, fewer than slices, several a slice.
constexpr std::size_t notified_counts[] = {1, 2, 7, 64, 1000};

TEST(NodesAllreduceNotified, EveryLengthEveryPlacement) {
  in_every_setting(2, 4096, [](Member& me, auto& window, WindowUse& use) {
    int round = 0;
    for (const std::size_t count : notified_counts)
      for (const bool in_place : {false, true})
        for (const int slices : {1, 2, 5}) {
          const auto own = testing::vector_of(me.rank(), count, ++round);
          EXPECT_EQ(allreduce_of(me, window, use, own, reduce::Type::float64, slices, in_place),
                    testing::sum_of(me.size(), count, round))
              << "rank " << me.rank() << ", " << count << " elements, " << slices << " slices";
        }
  });
}

// Integers go by partial reductions as the paper has them, sums of real numbers by branches of a fixed tree.
TEST(NodesAllreduceNotified, Integers) {
  in_every_setting(2, 4096, [](Member& me, auto& window, WindowUse& use) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::int64_t> own(5), sum(5);
      for (int i = 0; i < 5; ++i)
        for (int rank = 0; rank < me.size(); ++rank) {
          const std::int64_t value = 1000 * rank + 10 * i + round;
          sum[static_cast<std::size_t>(i)] += value;
          if (rank == me.rank()) own[static_cast<std::size_t>(i)] = value;
        }
      EXPECT_EQ(allreduce_of(me, window, use, own, reduce::Type::int64, 1 + round % 3, round % 2 == 0), sum);
    }
  });
}

TEST(NodesAllreduceNotified, ManyCallsInARowTakeTheHalvesInTurns) {
  in_every_setting(2, 256, [](Member& me, auto& window, WindowUse& use) {
    use.calls = 0xffffffff - 60;  // the number of calls wraps around
    for (int round = 0; round < 120; ++round) {
      const auto count = static_cast<std::size_t>(1 + round * 7 % 90);
      EXPECT_EQ(allreduce_of(me, window, use, testing::vector_of(me.rank(), count, round),
                             reduce::Type::float64, 1 + round % 2, false),
                testing::sum_of(me.size(), count, round));
    }
  });
}

TEST(NodesAllreduceNotified, TheSameBitsEverywhereAndEachTime) {
  testing::expect_same_bits_everywhere(notified_counts, [](Member& me, auto& window, WindowUse& use,
                                                           const std::vector<float>& own, int round) {
    return allreduce_of(me, window, use, own, reduce::Type::float32, 2, round % 2 == 1);
  });
}

TEST(NodesAllreduceNotified, MessagesAndCompletionsHaveNumbersAndPlacesOfTheirOwn) {
  for (int nodes = 2; nodes < 40; ++nodes)
    for (const int slices : {1, 3, 8}) {
      const NotifiedSlices cut(800, 8, slices, nodes);
      const auto messages = static_cast<std::size_t>(PartialReductions(nodes).messages());
      std::size_t from = cut.cut().begin(slices);
      for (int slice = 0; slice < slices; ++slice) {
        const Mailbox box = cut.mailbox(slice);
        EXPECT_EQ(box.first, static_cast<std::size_t>(slice) * messages);
        EXPECT_GE(box.offset, from);
        from = box.offset + messages * box.room;
        EXPECT_EQ(cut.complete(slice),
                  static_cast<std::size_t>(slices) * messages + static_cast<std::size_t>(slice));
      }
      EXPECT_EQ(cut.room(), from);
      EXPECT_LT(cut.complete(slices - 1), 4096U);
      EXPECT_GE(NotifiedSlices::most_slices(4096, nodes), slices);
    }
}

}  // namespace
}  // namespace espalier::collective::multinode
