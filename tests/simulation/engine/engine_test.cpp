#include "simulation/engine/engine.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/simulation/engine/models.hpp"

namespace espalier::simulation {
namespace {

using testing::round_model;
using Programs = std::vector<Program>;

/// When each rank is through with its program.
std::vector<double> times(const Model& model, const Shape& shape, const Programs& programs,
                          std::uint64_t seed = 1) {
  Engine engine(model, shape, 16, seed);
  std::vector<std::size_t> next(programs.size());
  engine.run([&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    while (next[i] < programs[i].size())
      if (engine.perform(rank, programs[i][next[i]]))
        ++next[i];
      else
        return;
    engine.finish(rank);
  });
  std::vector<double> ended;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    EXPECT_EQ(next[i], programs[i].size()) << "rank " << i << " is stuck";
    ended.push_back(engine.clock(static_cast<int>(i)));
  }
  return ended;
}

Operation work(double ns) { return {Act::work, 0, 0, static_cast<std::uint64_t>(ns * 16)}; }
Operation send(int peer, std::uint64_t bytes = 0) { return {Act::send, 0, peer, bytes}; }
Operation receive(int peer, std::uint64_t bytes = 0) { return {Act::receive, 0, peer, bytes}; }
Operation complete(int message) { return {Act::complete, 0, message, 0}; }
Operation publish(int flag, std::uint64_t step = 1) { return {Act::publish, 0, flag, step}; }
Operation await(int flag, std::uint64_t step = 1) { return {Act::await, 0, flag, step}; }
Operation write(int place, std::uint64_t bytes) { return {Act::write, 0, place, bytes}; }
Operation copy(int place, std::uint64_t bytes) { return {Act::copy, 0, place, bytes}; }

TEST(Messages, TakeOverheadLatencyBytesOverhead) {
  const auto ended =
      times(round_model(), {2, 1}, {{send(1, 20), complete(0)}, {receive(0, 20), complete(0)}});
  EXPECT_DOUBLE_EQ(ended[0], 100);
  EXPECT_DOUBLE_EQ(ended[1], 100 + 1000 + 20 + 100);
}

TEST(Messages, ThatComeBeforeTheyAreWantedWait) {
  const auto ended =
      times(round_model(), {2, 1}, {{send(1), complete(0)}, {work(5000), receive(0), complete(0)}});
  EXPECT_DOUBLE_EQ(ended[1], 5100);
}

// LogGP's interval between two messages of a rank is the larger one of o and g, or of o and bG.
TEST(Messages, OfOneRankAreAGapApart) {
  Model model = round_model();
  model.network.wire.gap = 300;
  const Programs two = {{send(1), send(1), complete(0), complete(1)},
                        {receive(0), receive(0), complete(0), complete(1)}};
  EXPECT_DOUBLE_EQ(times(model, {2, 1}, two)[1], 300 + 100 + 1000 + 100);
  model.network.wire.gap = 0;
  EXPECT_DOUBLE_EQ(times(model, {2, 1}, two)[1], 100 + 100 + 1000 + 100);
}

TEST(Messages, OfANodeShareItsCards) {
  Model model = round_model();
  const Programs both = {{send(2, 1000), complete(0)},
                         {send(3, 1000), complete(0)},
                         {receive(0, 1000), complete(0)},
                         {receive(1, 1000), complete(0)}};
  EXPECT_DOUBLE_EQ(times(model, {2, 2}, both)[3], 100 + 1000 + 1000 + 1000 + 100);
  model.network.cards = 2;
  EXPECT_DOUBLE_EQ(times(model, {2, 2}, both)[3], 100 + 1000 + 1000 + 100);
}

TEST(Messages, EnterACardInTheOrderOfTheirFirstBytes) {
  const Programs late_and_short = {{send(2, 5000), complete(0)},
                                   {work(50), send(2, 10), complete(0)},
                                   {receive(0, 5000), receive(1, 10), complete(0), work(100), complete(1)}};
  EXPECT_DOUBLE_EQ(times(round_model(), {3, 1}, late_and_short)[2], 100 + 1000 + 5000 + 100 + 100 + 100);
}

TEST(Messages, AfterALongOneItsReceiverIsFree) {
  const Programs one_after_the_other = {{send(2, 5000), complete(0)},
                                        {work(5500), send(2, 10), complete(0)},
                                        {receive(0, 5000), receive(1, 10), complete(0), complete(1)}};
  EXPECT_DOUBLE_EQ(times(round_model(), {3, 1}, one_after_the_other)[2], 5500 + 100 + 1000 + 10 + 100);
}

TEST(Messages, OfOneSenderKeepTheirOrderOnEachLane) {
  const Programs crossed = {
      {{Act::send, 1, 1, 5000}, {Act::send, 0, 1, 0}, complete(0), complete(1)},
      {{Act::receive, 0, 0, 0}, {Act::receive, 1, 0, 5000}, complete(0), work(1), complete(1)}};
  EXPECT_GT(times(round_model(), {2, 1}, crossed)[1], 6000);
}

TEST(Messages, OfNeighboursKeepBothBusy) {
  Model model = round_model();
  model.node.messages.latency = 60;
  model.node.messages.per_byte = 2;
  const auto ended = times(model, {1, 3},
                           {{send(2, 100), complete(0)},
                            {send(2, 100), complete(0)},
                            {receive(0, 100), receive(1, 100), complete(0), complete(1)}});
  EXPECT_DOUBLE_EQ(ended[0], 30 + 200);
  EXPECT_DOUBLE_EQ(ended[1], 30 + 200);
  EXPECT_DOUBLE_EQ(ended[2], 30 + 200 + 200 + 30);  // it copies out one after the other
}

TEST(Messages, PassSwitches) {
  Model model = round_model();
  model.network.switches = {{2, 30}, {4, 500}};
  const auto hop = [&](int to) {
    Programs programs(8);
    programs[0] = {send(to), complete(0)};
    programs[static_cast<std::size_t>(to)] = {receive(0), complete(0)};
    return times(model, {8, 1}, programs)[static_cast<std::size_t>(to)];
  };
  EXPECT_DOUBLE_EQ(hop(1), 1200);
  EXPECT_DOUBLE_EQ(hop(2), 1230);
  EXPECT_DOUBLE_EQ(hop(4), 1730);
}

TEST(Flags, CostTheTransferBetweenTheirCores) {
  Programs programs(8);
  programs[0] = {work(1000), publish(0)};
  for (std::size_t reader : {1u, 2u, 4u}) {
    Programs one = programs;
    one[reader] = {await(0)};
    EXPECT_DOUBLE_EQ(times(round_model(), {1, 8}, one)[reader], 1000 + (reader == 1   ? 10
                                                                        : reader == 2 ? 40
                                                                                      : 100));
  }
}

// Rank 1 is the nearest and is served first; rank 2 waits for it, and rank 3 has the line from its neighbour.
TEST(Flags, AreReadByOneAfterTheOtherFromTheNearestWhoHasThem) {
  const Programs programs = {{work(1000), publish(0)}, {await(0)}, {await(0)}, {work(1), await(0)}};
  const auto ended = times(round_model(), {1, 4}, programs);
  const double visible = 1000 + 20;  // claimed from across the package
  EXPECT_EQ(ended, (std::vector<double>{1000, visible + 5, visible + 5 + 20, visible + 5 + 20 + 5}));
}

TEST(Flags, ThatAreThereCostARead) {
  const auto ended = times(round_model(), {1, 2}, {{publish(0)}, {work(500), await(0), await(0, 0)}});
  EXPECT_DOUBLE_EQ(ended[1], 505)
      << "no rank polled, so that no store had to claim it; once read it is there";
}

TEST(Flags, ThatAreThereAreReadAtOnce) {
  Model model = round_model();
  const Programs programs = {{publish(0), publish(1), publish(2), publish(3)},
                             {work(500), await(0), await(1), await(2), await(3)}};
  EXPECT_DOUBLE_EQ(times(model, {1, 2}, programs)[1], 500 + 4 * 5);
  model.node.reads_under_way = 4;
  EXPECT_DOUBLE_EQ(times(model, {1, 2}, programs)[1], 500 + 5 + 3 * 5.0 / 4);
}

TEST(Flags, ThatAreWaitedForAreNotReadAtOnce) {
  Model model = round_model();
  model.node.reads_under_way = 4;
  const Programs programs = {{work(100), publish(0), work(100), publish(1)}, {await(0), await(1)}};
  EXPECT_DOUBLE_EQ(times(model, {1, 2}, programs)[1], 200 + 10);
}

TEST(Stores, ToLinesThatOthersHoldTakeThemBack) {
  Model model = round_model();
  // Rank 4, which is on the other package, polls flag 1; no rank looks at flag 0 before it is set.
  Programs programs(5);
  programs[0] = {work(1000), publish(0), publish(1)};
  programs[4] = {await(1), await(0)};
  EXPECT_DOUBLE_EQ(times(model, {1, 5}, programs)[4], 1000 + 50 + 50 + 50);
  EXPECT_DOUBLE_EQ(times(model, {1, 5}, programs)[0], 1000) << "its stores wait in a buffer";
}

TEST(Stores, ToLinesThatArePolledFollowOneAnother) {
  Model model = round_model();
  model.node.stores_under_way = 4;
  Programs programs(8);
  programs[0] = {work(1000)};
  for (int reader = 4; reader < 8; ++reader) {
    programs[0].push_back(publish(reader));
    programs[static_cast<std::size_t>(reader)] = {await(reader)};
  }
  const auto ended = times(model, {1, 8}, programs);
  for (int i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(ended[static_cast<std::size_t>(4 + i)], 1000 + 50 * (i + 1) + 50) << i;
}

TEST(Stores, ToLinesThatAreNotPolledOverlap) {
  Model model = round_model();
  model.node.stores_under_way = 5;
  // Rank 1 has read two flags; then rank 0 sets both again.
  const Programs programs = {{publish(0), publish(1), work(1000), publish(0, 2), publish(1, 2)},
                             {work(100), await(0), await(1), work(1000), await(1, 2)}};
  EXPECT_DOUBLE_EQ(times(model, {1, 2}, programs)[1], 1110 + 5);
  Programs early = programs;
  early[1] = {work(100), await(0), await(1), await(1, 2)};  // polls
  EXPECT_DOUBLE_EQ(times(model, {1, 2}, early)[1], 1000 + 1 + 5 + 5);
}

TEST(Flags, AreAddedToByOneAfterTheOther) {
  Engine engine(round_model(), {1, 4}, 1, 1);
  std::vector<std::uint64_t> before;
  engine.run([&](int rank) {
    if (const auto was = engine.add(rank, 0, 1)) before.push_back(*was);
  });
  EXPECT_EQ(before, (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(engine.clock(3), 10 + 40 + 10);
}

TEST(Flags, AreAwaitedUntilTheirStep) {
  const auto ended = times(round_model(), {1, 2}, {{publish(0, 1), work(700), publish(0, 3)}, {await(0, 2)}});
  EXPECT_DOUBLE_EQ(ended[1], 710);
}

constexpr int elsewhere = 1000;  // a line far behind the first

TEST(Copies, CostByDistanceAndShareControllers) {
  Model model = round_model();
  Programs two(6);
  two[0] = {write(0, 10000)};
  two[1] = {write(elsewhere, 10000)};
  two[4] = {work(100), copy(0, 10000)};
  two[5] = {work(101), copy(elsewhere, 10000)};
  EXPECT_DOUBLE_EQ(times(model, {1, 6}, two)[4], 100 + 50 + 4000);
  model.node.controller_ns_per_byte = 0.3;
  const auto ended = times(model, {1, 6}, two);
  EXPECT_DOUBLE_EQ(ended[4], 4150);
  EXPECT_DOUBLE_EQ(ended[5], 100 + 6000) << "both read from the same controller";
}

// 4,095 bytes queue as 4,096 do.
TEST(Copies, QueueAtControllersWhateverTheirLength) {
  Model model = round_model();
  model.node.controller_ns_per_byte = 1;
  const auto last = [&](std::uint64_t bytes) {
    Programs programs(8);
    programs[0] = {write(0, bytes)};
    for (std::size_t reader = 4; reader < 8; ++reader) programs[reader] = {work(100), copy(0, bytes)};
    return times(model, {1, 8}, programs)[7];
  };
  EXPECT_NEAR(last(4096) / last(4095), 1, 0.01);
  EXPECT_NEAR(last(4096) / last(1024), 4, 0.4);
}

TEST(Copies, ComeFromTheNearestWhoHasRead) {
  Programs programs(6);
  programs[0] = {write(0, 10000)};
  programs[4] = {work(100), copy(0, 10000)};
  programs[5] = {work(5000), copy(0, 10000)};  // its neighbour has the data by now
  EXPECT_DOUBLE_EQ(times(round_model(), {1, 6}, programs)[5], 5000 + 5 + 1000);
  programs[0].push_back(work(4500));
  programs[0].push_back(write(0, 10000));
  EXPECT_DOUBLE_EQ(times(round_model(), {1, 6}, programs)[5], 5000 + 50 + 4000) << "written again since";
}

TEST(Copies, OfPartsAreFromWhoWroteTheWhole) {
  Programs programs(6);
  programs[0] = {write(0, 12800)};
  programs[4] = {work(100), copy(100, 6400)};
  programs[5] = {work(9000), copy(0, 6400), copy(100, 6400)};
  EXPECT_DOUBLE_EQ(times(round_model(), {1, 6}, programs)[5], 9000 + 50 + 2560 + 5 + 640);
}

TEST(Copies, IntoLinesThatOthersHaveReadTakeThemBack) {
  Model model = round_model();
  model.node.stores_under_way = 10;
  Programs programs(5);
  programs[0] = {write(0, 6400), work(10000), write(0, 6400)};
  EXPECT_DOUBLE_EQ(times(model, {1, 5}, programs)[0], 10000);
  programs[4] = {work(100), copy(0, 6400)};
  EXPECT_DOUBLE_EQ(times(model, {1, 5}, programs)[0], 10000 + 100 * 50.0 / 10);
}

// What one rank of a core has read another of that core has, too.
TEST(Copies, OfRanksThatShareACoreAreInItsCache) {
  Model model = round_model();
  model.node.levels = {{"machine", 2, 100, 0.4}};
  Programs programs(4);
  programs[0] = {write(0, 10000)};
  programs[1] = {work(100), copy(0, 10000)};
  programs[3] = {work(1), copy(0, 10000)};
  EXPECT_DOUBLE_EQ(times(model, {1, 4}, programs)[3] - times(model, {1, 4}, programs)[1], 1 + 500);
}

TEST(Cores, AreSharedWhereRanksAreMore) {
  Model model = round_model();
  model.node.levels = {{"machine", 2, 100, 0.1}};
  const auto ended = times(model, {1, 4}, {{work(100)}, {work(100)}, {work(100)}, {work(100)}});
  EXPECT_EQ(ended, (std::vector<double>{100, 100, 200, 200}));
}

TEST(Cores, TakeTimeToSwitch) {
  Model model = round_model();
  model.node.levels = {{"machine", 2, 100, 0.1}};
  model.node.wake_ns = 10;
  const auto ended = times(model, {1, 4}, {{work(100)}, {work(100)}, {work(100)}, {work(100)}});
  EXPECT_EQ(ended, (std::vector<double>{100, 100, 210, 210}));
}

TEST(Cores, GoToWhoIsReadyFirstWhenTheirRankWaits) {
  Model model = round_model();
  model.node.levels = {{"machine", 1, 5, 0.1}};
  model.node.wake_ns = 10;
  // Rank 0 waits at once; rank 1 works and wakes it; rank 2 has been ready for longer.
  const auto ended = times(model, {1, 3}, {{await(0)}, {work(100), publish(0)}, {work(50)}});
  EXPECT_EQ(ended, (std::vector<double>{180, 110, 170}));
}

TEST(Cores, WhoWaitsAloneOnItsCoreIsNotSwitched) {
  Model model = round_model();
  model.node.levels = {{"machine", 2, 5, 0.1}};
  model.node.wake_ns = 10;
  // Ranks 0 and 2 have a core together, rank 1 one for itself.
  const auto ended = times(model, {1, 3}, {{work(100), publish(0)}, {await(0)}, {}});
  EXPECT_DOUBLE_EQ(ended[1], 105);
}

TEST(Noise, StretchesWorkTheSameForTheSameSeed) {
  Model model = round_model();
  model.noise = {1e6, 200, 0};  // a fifth of all time
  const Programs programs = {{work(1e6)}, {work(1e6)}};
  const auto first = times(model, {1, 2}, programs), again = times(model, {1, 2}, programs);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, times(model, {1, 2}, programs, 2));
  EXPECT_NE(first[0], first[1]);
  EXPECT_NEAR(first[0], 1.2e6, 0.03e6);
}

TEST(Noise, SkewIsWithinItsBound) {
  Model model = round_model();
  model.noise = {0, 0, 500};
  const auto ended = times(model, {1, 8}, Programs(8));
  EXPECT_NE(ended[0], ended[1]);
  for (const double time : ended) EXPECT_LE(time, 500);
}

TEST(Aggregation, TakesAHopALevelUpAndDown) {
  Model model = round_model();
  model.aggregation = {2, 50, 300, 200, 64, 1, 0};
  Programs programs(8, {{Act::aggregate, 0, 0, 8}});
  programs[5].insert(programs[5].begin(), work(1000));
  for (const double time : times(model, {8, 1}, programs)) EXPECT_DOUBLE_EQ(time, 1000 + 50 + 3 * 500 + 50);
  model.aggregation.radix = 8;
  EXPECT_DOUBLE_EQ(times(model, {8, 1}, programs)[0], 1000 + 50 + 500 + 50);
}

TEST(Aggregation, LongVectorsTakeSeveralOperations) {
  Model model = round_model();
  model.aggregation = {8, 50, 300, 200, 64, 1, 0};
  const Programs programs(8, {{Act::aggregate, 0, 0, 256}, {Act::aggregate, 0, 0, 8}});
  EXPECT_DOUBLE_EQ(times(model, {8, 1}, programs)[3], 4 * 500 + 100 + 500 + 100);
  model.aggregation.radix = 0;
  EXPECT_THROW(times(model, {8, 1}, programs), Error);
}

}  // namespace
}  // namespace espalier::simulation
