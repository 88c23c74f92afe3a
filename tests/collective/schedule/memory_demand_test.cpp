// Nonblocking collectives where memory for lines and buffers runs out, or may: the ranks decide alike which are served.
#include "collective/schedule/memory_demand.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <mutex>

#include "memory/read_refusals.hpp"
#include "tests/collective/calling_rank.hpp"

namespace espalier::collective {
namespace {

using testing::CallingRank;
using testing::kinds;
using testing::Ranks;
using testing::SharedMemory;
using testing::WatchedMachine;
using Pages = CallingRank::Calls::Pages;

class MemoryOfCalls : public ::testing::TestWithParam<int> {};

// Short ones: a rank that agreed on each would wait for a line of another one in each.
TEST_P(MemoryOfCalls, CallsOfUnknownLengthsAreAgreedOnOnceAPage) {
  const int n = GetParam();
  constexpr Step of_page[] = {1, Pages::calls_in_page};  // the first calls of two pages
  SharedMemory memory(n, std::size_t{64} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (Step number = 1; number < 2 * Pages::calls_in_page; ++number) {
      EXPECT_TRUE(rank.start(Collective::scatterv, 10, static_cast<int>(number)));
      const bool is_agreed_on = m.agreed_at(rank.calls().pages().agreement(number), number).has_value();
      EXPECT_EQ(is_agreed_on, std::count(std::begin(of_page), std::end(of_page), number) > 0) << number;
    }
    rank.complete_all(false);
  });
}

// All ranks know what a call takes, however unequal their shares are: those that follow one take of its grant.
TEST_P(MemoryOfCalls, CallsOfKnownLengthsAreNotAgreedOnEach) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{64} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    Step number = 0;
    for (const Collective collective : kinds) {
      if (collective == Collective::scatterv) continue;
      for (const std::size_t count : {7, 100, 101})
        EXPECT_TRUE(rank.start(collective, count, static_cast<int>(++number)));
      const bool is_agreed_on = m.agreed_at(rank.calls().pages().agreement(number), number).has_value();
      EXPECT_FALSE(is_agreed_on) << traits(collective).name;
      rank.complete_all(false);
    }
  });
}

TEST(MemoryDemand, AllRanksKnowAlikeWhatACallTakes) {
  std::vector<std::byte> memory(8 << 10);
  const std::vector<std::size_t> shares = {8, 800, 72};  // of unequal gaps
  const auto scattered = [&](int rank, bool in_place) {
    std::byte* const vector = memory.data();
    return bytes_of_all(
        reduce_scatter_spec({rank, 3}, Collective::reduce_scatter, vector, in_place ? vector : vector + 4096,
                            shares, testing::sum_of_doubles()),
        3);
  };
  const auto scatter = [&](int rank) {
    const Block block = {memory.data(), 72};
    const std::vector<Block> none(3), out(3, block);
    std::vector<Block> in(3);
    in[0] = block;
    return bytes_of_all(transfer_spec({rank, 3}, Collective::scatter, 0, 72, rank == 0 ? out : none, in), 3);
  };
  for (int rank = 1; rank < 3; ++rank) {
    EXPECT_EQ(scattered(rank, false), scattered(0, false));
    EXPECT_EQ(scattered(rank, true), scattered(0, false));
    EXPECT_EQ(scatter(rank), scatter(0));
  }
}

TEST_P(MemoryOfCalls, LongCallsOfUnknownLengthsAreAgreedOnEach) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{64} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (Step number = 1; number < 5; ++number) {
      EXPECT_TRUE(rank.start(Collective::scatterv, 200000, static_cast<int>(number)));
      EXPECT_TRUE(m.agreed_at(rank.calls().pages().agreement(number), number).has_value()) << number;
      rank.complete_all(false);
    }
  });
}

// The root, which knows best how much it gives, decides.
TEST_P(MemoryOfCalls, OfAScatterTheRootAloneGives) {
  constexpr std::size_t count = 100'000;
  const int n = GetParam();
  const std::size_t blocks = count * sizeof(double) * static_cast<std::size_t>(n);
  SharedMemory memory(n, 4 * blocks, blocks + blocks / 2);
  Ranks all(n, 2);
  std::barrier<> root_starts(n);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (const Collective collective : {Collective::scatter, Collective::scatterv}) {
      if (m.rank() != 0) root_starts.arrive_and_wait();
      EXPECT_TRUE(rank.start(collective, count, 1));
      if (m.rank() == 0) root_starts.arrive_and_wait();
      rank.complete_all(false);
      root_starts.arrive_and_wait();  // memory is wanted anew when all have finished the call
    }
  });
}

/// Whether the result lies where all ranks can write.
bool is_folded_in_common(Collective collective, int ranks) {
  return (collective == Collective::allreduce && ranks > 2) ||
         (collective == Collective::reduce && ranks > 4);
}

// Only the result of a fold in common has to lie in memory that the ranks share.
TEST_P(MemoryOfCalls, WhatFindsNoRoomLiesInARanksOwnMemory) {
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{40} << 10);
  Ranks all(n, 2);
  std::barrier turn_ends(n);  // a rank far ahead would find no room for the lines of its next calls
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    int round = 0;
    for (int turn = 0; turn < 3; ++turn) {
      for (const Collective collective : kinds)
        if (!is_folded_in_common(collective, n)) {
          EXPECT_TRUE(rank.start(collective, 9000, ++round));
        }
      EXPECT_FALSE(rank.calls().has_unpublished());
      rank.complete_all(turn % 2 == 0);
      turn_ends.arrive_and_wait();
    }
  });
}

// What was granted to a bcast, which does without shared memory, is no room for them.
TEST_P(MemoryOfCalls, FoldsInCommonAreNotStartedWithoutRoom) {
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{40} << 10);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory, false);
    int round = 0;
    for (const Collective collective : {Collective::allreduce, Collective::reduce}) {
      EXPECT_TRUE(rank.start(Collective::bcast, 9000, ++round));
      EXPECT_EQ(rank.start(collective, 9000, ++round), !is_folded_in_common(collective, n));
      rank.complete_all(false);
    }
  });
}

/// A read that is refused while it lives is noted for these ranks alone.
class RefusedRead {
 public:
  RefusedRead() {
    memory::read_refusals::share(&word_);
    memory::read_refusals::note(memory::read_refusals::Way::kernel, getpid(), EPERM);
  }
  ~RefusedRead() { memory::read_refusals::share(nullptr); }
  RefusedRead(const RefusedRead&) = delete;
  RefusedRead& operator=(const RefusedRead&) = delete;

 private:
  std::atomic<std::uint32_t> word_{0};
};

// They could read each other's memory when they met.
TEST_P(MemoryOfCalls, OnceReadsAreRefusedOnlySharedMemoryIsRoom) {
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  const RefusedRead refused;
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank full(m, memory, false);
    for (const Collective collective : {Collective::gatherv, Collective::scatterv, Collective::alltoallv})
      EXPECT_FALSE(full.start(collective, 3, 1));
    EXPECT_FALSE(full.start(Collective::allgather, 9000, 1));
  });
}

// No rank may read another's memory, and none knows how much the others give.
TEST_P(MemoryOfCalls, WhatMayFindNoRoomIsNotStarted) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20, std::size_t{1} << 30, false);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    for (const Collective collective : {Collective::gatherv, Collective::scatterv, Collective::alltoallv})
      EXPECT_FALSE(rank.start(collective, 3, 1));
    EXPECT_TRUE(rank.start(Collective::allgather, 3, 2));
    rank.complete_all(false);
  });
}

// All ranks alike.
TEST_P(MemoryOfCalls, WhatHasNoMemoryIsNotStarted) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20, std::size_t{100'000} * static_cast<std::size_t>(n));
  Ranks all(n, 2);
  std::mutex mutex;
  std::vector<std::vector<bool>> started(static_cast<std::size_t>(n));
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    std::vector<bool> own;
    int round = 0;
    for (int turn = 0; turn < 40; ++turn) {
      for (int i = 0; i < 12; ++i)
        own.push_back(rank.start(kinds[(turn + i) % std::size(kinds)], i % 2 == 0 ? 3 : 2500, ++round));
      rank.complete_all((turn + m.rank()) % 2 == 0);
    }
    EXPECT_FALSE(rank.calls().has_unpublished());
    const std::lock_guard lock(mutex);
    started[static_cast<std::size_t>(m.rank())] = std::move(own);
  });
  for (const auto& each : started) EXPECT_EQ(each, started[0]);
  EXPECT_GT(std::count(started[0].begin(), started[0].end(), true), 40);
  EXPECT_GT(std::count(started[0].begin(), started[0].end(), false), 0);
}

// There is memory for the first pages alone; the ranks hear alike that calls are over.
TEST_P(MemoryOfCalls, WithoutMemoryForLinesNoMoreAreStarted) {
  const int n = GetParam();
  SharedMemory memory(n, 128);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    CallingRank rank(m, memory);
    int round = 0, started = 0;
    for (int turn = 0; turn < 3; ++turn) {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(rank.start(Collective::allreduce, 2, ++round));
      rank.complete_all(false);
      rank.start(Collective::barrier, 0, ++round);  // then all have finished those before
      rank.complete_all(false);
    }
    while (rank.start(Collective::allreduce, 2, ++round)) ++started;
    EXPECT_TRUE(started >= 16 && started < 32) << started;
    rank.complete_all(true);
    EXPECT_FALSE(rank.start(Collective::barrier, 0, ++round));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, MemoryOfCalls, ::testing::Values(2, 3, 5));

}  // namespace
}  // namespace espalier::collective
