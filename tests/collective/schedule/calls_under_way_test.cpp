// Nonblocking collectives on ranks that are threads: results over many calls of every kind, many under way at
// a time, completed in any order; ranks that are elsewhere.
#include "collective/schedule/calls_under_way.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <limits>
#include <thread>

#include "tests/collective/calling_rank.hpp"

namespace espalier::collective {
namespace {

using testing::bytes_of;
using testing::CallingRank;
using testing::Doubles;
using testing::kinds;
using testing::Ranks;
using testing::SharedMemory;
using testing::WatchedMachine;

class UnderWay : public ::testing::TestWithParam<int> {};

TEST_P(UnderWay, EachIsRightAloneAtEveryLength) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 4);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    int round = 0;
    for (const std::size_t count : {1, 12, 13, 200, 600, 5000, 9000})
      for (const Collective collective : kinds)
        for (int i = 0; i < 5; ++i) {
          rank.start(collective, count, ++round);
          rank.complete_all(false);
        }
    EXPECT_TRUE(rank.calls().is_empty());
  });
}

// Many more than the first pages have lines for.
TEST_P(UnderWay, ManyAtATimeInAnyOrder) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    int round = 0;
    for (int turn = 0; turn < 6; ++turn) {
      for (int i = 0; i < (turn % 2 == 0 ? 8 : 1); ++i)
        for (const std::size_t count : {2, 700})
          for (const Collective collective : kinds) EXPECT_TRUE(rank.start(collective, count, ++round));
      rank.complete_all((turn + m.rank()) % 2 == 0);
    }
    EXPECT_FALSE(rank.calls().has_unpublished());
  });
}

// Others have the memory that was to be there for all calls: a buffer or a few are left.
TEST_P(UnderWay, WithoutMemoryTheyFollowEachOther) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{40} << 10, std::size_t{1} << 30, false);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    int round = 0;
    for (int turn = 0; turn < 4; ++turn) {
      for (int i = 0; i < 10; ++i) rank.start(kinds[(turn + i) % std::size(kinds)], 1000, ++round);
      rank.complete_all(turn % 2 == 0);
    }
  });
}

/// A short call in which the ranks agree on a word.
struct Meeting {
  explicit Meeting(const WatchedMachine& m) : all(static_cast<std::size_t>(m.size())) {
    call.is_brief = true;
    call.spec.collective = Collective::allgather;
    call.spec.bytes = sizeof mine;
    call.brief = brief_of_equal_blocks(Collective::allgather, 0, {m.rank(), m.size()},
                                       reinterpret_cast<const std::byte*>(&mine), bytes_of(all), sizeof mine);
  }
  void complete(CallingRank& rank) {
    while (!rank.calls().advance(call)) std::this_thread::yield();
  }
  double mine = 1;
  Doubles all;
  CallUnderWay call;
};

TEST_P(UnderWay, OneOfThoseThatComeTogetherMakesWhatTheyAgreeOn) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{1} << 20);
  Ranks all(n, 2);
  std::atomic<int> offers = 0;
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (std::uint64_t round = 1; round <= 20; ++round) {
      Meeting meeting(m);
      const auto offer = [&] {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++offers;
        return round;
      };
      const machine::Agreed agreed =
          rank.calls().start_agreeing(meeting.call, offer, std::numeric_limits<int>::max());
      EXPECT_EQ(agreed.value, round);
      meeting.complete(rank);
    }
  });
  EXPECT_EQ(offers, 20);
}

// The rank that has claimed may be off its core, or dead.
TEST_P(UnderWay, AClaimHoldsNoOtherRankUp) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{1} << 20);
  Ranks all(n, 2);
  std::atomic<bool> others_have_agreed = false;
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    Meeting meeting(m);
    const auto offer = [&]() -> std::uint64_t {
      if (m.rank() != 0) return 7;
      while (!others_have_agreed) std::this_thread::yield();
      return 8;
    };
    if (m.rank() != 0)  // so that rank 0 comes first
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const machine::Agreed agreed = rank.calls().start_agreeing(meeting.call, offer, 3);
    EXPECT_EQ(agreed.value, 7u);
    others_have_agreed = true;
    meeting.complete(rank);
  });
}

// A root that needs nothing of the others does not fill the memory before they come.
TEST_P(UnderWay, WhoRunsAheadDoesNotFillTheMemory) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{1} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (int round = 1; round <= 2000; ++round) {
      if (m.rank() != 0 && round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_TRUE(rank.start(Collective::bcast, round % 7 == 0 ? 2000 : 2, round));
      rank.complete_all(false);
    }
    EXPECT_LE(rank.calls().buffers().all().size(), 16u);
  });
}

// Rank 0 starts, and comes back when all others are done.
TEST_P(UnderWay, WhoHasStartedOwesNothing) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 2);
  std::atomic<int> done = 0;
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    int round = 0;
    for (const std::size_t count : {3, 900, 9000})
      for (const Collective collective : kinds) rank.start(collective, count, ++round);
    if (m.rank() == 0)
      while (done.load() < n - 1) std::this_thread::yield();
    rank.complete_all(false);
    ++done;
  });
}

// So what a rank writes is what it has just read. Only where each gives as much as it gets.
TEST(UnderWay, TwoRanksExchangeTheirBuffers) {
  SharedMemory memory(2, std::size_t{8} << 20);
  Ranks all(2, 4);
  std::array<std::array<const std::byte*, 2>, 2> buffers{};  // of a rank, before and after
  const auto exchange = [&](Collective collective, std::size_t count) {
    std::barrier both(2);
    all.run([&](WatchedMachine& m) {
      CallingRank rank(m, memory);
      const auto own = static_cast<std::size_t>(m.rank());
      rank.start(collective, count, 1);
      buffers[own][0] = rank.calls().buffers().all().front().data;
      rank.complete_all(false);
      buffers[own][1] = rank.calls().buffers().all().front().data;
      both.arrive_and_wait();
    });
    return buffers[0][1] == buffers[1][0] && buffers[1][1] == buffers[0][0];
  };
  EXPECT_TRUE(exchange(Collective::allreduce, 100));
  EXPECT_TRUE(exchange(Collective::allgather, 5000));
  EXPECT_TRUE(exchange(Collective::reduce_scatter, 100));
  EXPECT_FALSE(exchange(Collective::reduce_scatter, 101));  // of different lengths
}

// With the table that says where each reader's block lies.
TEST(UnderWay, ShortBlocksOfFourRanksRideInALine) {
  SharedMemory memory(4, std::size_t{1} << 20);
  Ranks all(4, 4);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (const Collective collective : {Collective::scatter, Collective::alltoall}) {
      for (int round = 0; round < 6; ++round) rank.start(collective, 1, round);
      rank.complete_all(false);
      EXPECT_TRUE(rank.calls().buffers().all().empty());
      EXPECT_FALSE(m.agreed_at(rank.calls().pages().agreement(1), 1).has_value());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, UnderWay, ::testing::Values(2, 3, 5));

}  // namespace
}  // namespace espalier::collective
