#include "collective/core/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "collective/node/all_to_all/allgather.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using espalier::testing::Ranks;
using plan::Algorithm;

TEST(Rounds, AreWorthTradingIfThereIsOneOrBothTakeAboutAsMany) {
  Ranks two(2), three(3);
  const auto& m = two.machine(0);
  const std::size_t pairwise = m.pairwise_bytes();
  EXPECT_TRUE(worth_pairwise(m, 0, pairwise));
  EXPECT_FALSE(worth_pairwise(m, 0, pairwise + 1));
  EXPECT_TRUE(worth_pairwise(m, 7 * pairwise, 8 * pairwise));
  EXPECT_FALSE(worth_pairwise(m, 8 * pairwise, 7 * pairwise - 1));
  EXPECT_FALSE(worth_pairwise(three.machine(0), 100, 200)) << "there are no pairwise cells";
}

TEST(Rounds, TwoRanksThatHearAsMuchFromEachOtherTrade) {
  Ranks two(2), three(3);
  const Rounds rounds{.count = 1, .span = 1, .bytes = 4096, .overlap = true, .readers = {}, .can_pair = true};
  const auto& m = two.machine(0);
  EXPECT_TRUE(uses_pairwise_slots(m, rounds));
  EXPECT_FALSE(uses_pairwise_slots(three.machine(0), rounds));
  Rounds other = rounds;
  other.can_pair = false;
  EXPECT_FALSE(uses_pairwise_slots(m, other));
  other = rounds;
  other.overlap = false;
  EXPECT_FALSE(uses_pairwise_slots(m, other)) << "they meet by counter";
  other = rounds;
  other.bytes = m.pairwise_bytes() + 1;
  EXPECT_FALSE(uses_pairwise_slots(m, other));
}

TEST(Rounds, CarryNoMoreThanAPairwiseSlot) {
  Ranks two(2), three(3);
  Plan plan;
  plan.algorithm = Algorithm::exchange;
  plan.chunk = 256 * 1024;
  const std::size_t pairwise = two.machine(0).pairwise_bytes();
  EXPECT_EQ(round_bytes(two.machine(0), plan, true), pairwise);
  EXPECT_EQ(round_bytes(two.machine(0), plan, false), plan.chunk);
  EXPECT_EQ(round_bytes(three.machine(0), plan, true), plan.chunk);
  plan.chunk = 1000;
  EXPECT_EQ(round_bytes(two.machine(0), plan, true), 1000u);
  plan.chunk = 256 * 1024;
  plan.algorithm = Algorithm::central;
  EXPECT_EQ(round_bytes(two.machine(0), plan, true), plan.chunk);
}

// Even and uneven calls, of one round and of several, by pairwise slots and by rings, one behind the other
// and without anything between them: no slot is written while a rank still reads it.
TEST(Rounds, PairwiseSlotsAndRingsInTurn) {
  Ranks two(2, 16, 4096);
  Plan plan;
  plan.algorithm = Algorithm::exchange;
  plan.chunk = 8192;
  const std::vector<std::vector<std::size_t>> sizes = {{8192, 8192}, {100, 9000},   {30000, 31000},
                                                       {0, 4000},    {20000, 0},    {300, 301},
                                                       {50000, 9},   {24576, 24576}};
  two.run([&](testing::WatchedMachine& m) {
    const auto me = static_cast<std::size_t>(m.rank()), other = 1 - me;
    for (int call = 0; call < 3000; ++call) {
      const auto& bytes = sizes[static_cast<std::size_t>(call * 7 + call / 8) % sizes.size()];
      const std::vector<std::size_t> offsets = {0, bytes[0]};
      const auto byte_of = [call](std::size_t rank) {
        return std::byte(static_cast<unsigned>(call) * 2 + rank);
      };
      std::vector<std::byte> got(bytes[0] + bytes[1]);
      const Blocks blocks{bytes, offsets};
      const std::vector<std::byte> mine(bytes[me] + 1, byte_of(me));
      if (call % 3 == 0) {
        allgather(m, mine.data(), got.data(), blocks, plan);
      } else {
        // What one sends to the other; nothing to itself.
        const std::vector<std::size_t> none = {0, 0},
                                       out_bytes = {me == 1 ? bytes[1] : 0, me == 0 ? bytes[0] : 0};
        const std::vector<std::size_t> in_bytes = {me == 1 ? bytes[0] : 0, me == 0 ? bytes[1] : 0};
        alltoallv(m, mine.data(), {out_bytes, none}, got.data(), {in_bytes, offsets}, plan);
      }
      const auto* theirs = got.data() + offsets[other];
      EXPECT_TRUE(
          std::all_of(theirs, theirs + bytes[other], [&](std::byte b) { return b == byte_of(other); }))
          << "call " << call;
    }
  });
}

// Nothing tells a rank that hears nothing from the other how far that has read, but its finish line.
TEST(Rounds, ASlowReaderKeepsThePairwiseSlots) {
  Ranks two(2, 32, 4096);
  Plan plan;
  plan.algorithm = Algorithm::exchange;
  const std::vector<std::size_t> bytes = {0, 4000}, offsets = {0, 0};
  two.run([&](testing::WatchedMachine& m) {
    for (int call = 0; call < 100; ++call) {
      if (m.rank() == 0 && call % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::vector<std::byte> own(4000, std::byte(static_cast<unsigned>(call))), got(4000);
      allgather(m, own.data(), got.data(), Blocks{bytes, offsets}, plan);
      EXPECT_TRUE(got == own) << "call " << call;
    }
  });
}

}  // namespace
}  // namespace espalier::collective
