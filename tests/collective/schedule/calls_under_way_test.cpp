// Nonblocking collectives on ranks that are threads: results over many calls of every kind, many under way at
// a time, completed in any order; ranks that are elsewhere, lines and memory that run out.
#include "collective/schedule/calls_under_way.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <functional>
#include <limits>
#include <list>
#include <mutex>
#include <numeric>
#include <thread>

#include "memory/read_refusals.hpp"
#include "tests/collective/doubles.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/collective/under_way.hpp"

namespace espalier::collective {
namespace {

using testing::bytes_of;
using testing::RankMemory;
using testing::RankMemoryOf;
using testing::Ranks;
using testing::SharedMemory;
using testing::sum_of_doubles;
using testing::WatchedMachine;
using Calls = CallsUnderWay<WatchedMachine, RankMemoryOf>;
using Doubles = std::vector<double>;

/// One rank, and what it has started.
class Rank {
 public:
  Rank(WatchedMachine& m, SharedMemory& memory, bool seems_to_have_room = true)
      : m_(m), memory_(memory.for_a_rank()), calls_(m, memory.with(memory_)) {
    memory_.seems_to_have_room = seems_to_have_room;
  }

  struct Started {
    CallUnderWay call;
    Doubles send, receive, wanted;
  };
  /// False: there is no memory for it.
  bool start(Collective collective, std::size_t count, int round) {
    Started& started = started_.emplace_back();
    started.call.spec = spec_of(collective, count, round, started);
    started.call.is_brief = may_be_brief(started.call.spec) && (m_.rank() + round) % 3 != 0;
    started.call.brief = brief(started, count);
    if (calls_.start(started.call)) return true;
    started_.pop_back();
    return false;
  }
  void complete(Started& started) {
    while (!calls_.advance(started.call)) {
      calls_.advance_all();
      std::this_thread::yield();
    }
    EXPECT_EQ(started.receive, started.wanted);
  }
  void complete_all(bool last_first) {
    while (!started_.empty()) {
      const auto next = last_first ? std::prev(started_.end()) : started_.begin();
      complete(*next);
      started_.erase(next);
    }
  }
  Calls& calls() { return calls_; }

 private:
  bool may_be_brief(const PersistentSpec& spec) const {
    using enum Collective;
    constexpr std::array kinds = {barrier, bcast,   reduce,   allreduce, allgather, alltoall,
                                  gather,  scatter, scatterv, scan,      exscan};
    if (spec.collective == scatterv && m_.rank() == 0) return false;  // the root has blocks of many lengths
    const std::size_t blocks = spec.collective == alltoall ? static_cast<std::size_t>(m_.size()) : 1;
    const std::size_t bytes = spec.collective == scatterv ? spec.arrives_from(0) : spec.bytes;
    return bytes / blocks <= longest_brief_block(spec.collective, m_.size()) &&
           std::count(kinds.begin(), kinds.end(), spec.collective) > 0;
  }
  BriefCall brief(Started& started, std::size_t count) const {
    if (started.call.spec.collective == Collective::scatterv) count = started.receive.size();
    return brief_of_equal_blocks(started.call.spec.collective, started.call.spec.root, {m_.rank(), m_.size()},
                                 bytes_of(started.send), bytes_of(started.receive), count * 8);
  }
  PersistentSpec spec_of(Collective collective, std::size_t count, int round, Started& to);
  PersistentSpec transfer(Collective collective, const std::vector<std::size_t>& sent,
                          const std::vector<std::size_t>& received, std::size_t bytes, int round,
                          Started& to);

  WatchedMachine& m_;
  RankMemory memory_;
  Calls calls_;
  std::list<Started> started_;
};

/// `sent`, `received`: how many numbers go to each rank, or come from it. A bcast or allgather has one block
/// for all. `bytes`: as all ranks know them.
PersistentSpec Rank::transfer(Collective collective, const std::vector<std::size_t>& sent,
                              const std::vector<std::size_t>& received, std::size_t bytes, int round,
                              Started& to) {
  const int rank = m_.rank(), n = m_.size();
  const bool is_one = collective == Collective::bcast || collective == Collective::allgather;
  for (int peer = 0; peer < n; ++peer) {
    const auto i = static_cast<std::size_t>(peer);
    if (!is_one || peer == 0) {
      const Doubles block = testing::vector_of(rank + 8 * (is_one ? 0 : peer), sent[i], round);
      to.send.insert(to.send.end(), block.begin(), block.end());
    }
    const Doubles block = testing::vector_of(peer + 8 * (is_one ? 0 : rank), received[i], round);
    to.wanted.insert(to.wanted.end(), block.begin(), block.end());
  }
  to.receive.resize(to.wanted.size());
  std::vector<Block> out, in;
  std::size_t from = 0, into = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    out.push_back({bytes_of(to.send) + from * 8, sent[i] * 8});
    in.push_back({bytes_of(to.receive) + into * 8, received[i] * 8});
    if (!is_one) from += sent[i];
    into += received[i];
  }
  return transfer_spec({rank, n}, collective, 0, bytes, out, in);
}

PersistentSpec Rank::spec_of(Collective collective, std::size_t count, int round, Started& to) {
  const int rank = m_.rank(), n = m_.size();
  const auto ranks = static_cast<std::size_t>(n);
  const std::vector<std::size_t> none(ranks, 0), all(ranks, count);
  std::vector<std::size_t> from_root = none;
  from_root[0] = count;
  switch (collective) {
    case Collective::barrier:
      return barrier_spec({rank, n});
    case Collective::bcast: {
      std::vector<std::size_t> to_others = rank == 0 ? all : none;
      return transfer(collective, to_others, rank == 0 ? none : from_root, count * 8, round, to);
    }
    case Collective::allgather:
      return transfer(collective, all, all, count * 8, round, to);
    case Collective::alltoall:
      return transfer(collective, all, all, count * 8 * ranks, round, to);
    case Collective::gather:
      return transfer(collective, from_root, rank == 0 ? all : none, count * 8, round, to);
    case Collective::scatter:
      return transfer(collective, rank == 0 ? all : none, from_root, count * 8, round, to);
    case Collective::scatterv: {
      std::vector<std::size_t> sent = none, received = none;
      for (std::size_t i = 0; i < ranks && rank == 0; ++i) sent[i] = count + i;
      received[0] = count + static_cast<std::size_t>(rank);
      return transfer(collective, sent, received, 0, round, to);
    }
    default:
      break;
  }
  to.send = testing::vector_of(rank, count, round);
  const int last = collective == Collective::scan ? rank + 1 : collective == Collective::exscan ? rank : n;
  const bool has_result = last > 0 && (collective != Collective::reduce || rank == 1);
  if (has_result) to.wanted = testing::sum_of(last, count, round);
  if (collective == Collective::reduce_scatter) {
    std::vector<std::size_t> shares(ranks, count / ranks * 8);
    shares.back() += count % ranks * 8;
    const std::size_t begin = static_cast<std::size_t>(rank) * shares[0] / 8;
    const auto at = to.wanted.begin() + static_cast<std::ptrdiff_t>(begin);
    to.wanted = Doubles(at, at + static_cast<std::ptrdiff_t>(shares[static_cast<std::size_t>(rank)] / 8));
    to.receive.resize(to.wanted.size());
    return reduce_scatter_spec({rank, n}, collective, bytes_of(to.send), bytes_of(to.receive), shares,
                               sum_of_doubles());
  }
  to.receive.resize(has_result ? count : 0);
  return reduction_spec({rank, n}, collective, 1, bytes_of(to.send), bytes_of(to.receive), count * 8,
                        sum_of_doubles());
}

constexpr Collective kinds[] = {Collective::barrier,  Collective::bcast,          Collective::allgather,
                                Collective::alltoall, Collective::reduce,         Collective::gather,
                                Collective::scatter,  Collective::allreduce,      Collective::scan,
                                Collective::scatterv, Collective::reduce_scatter, Collective::exscan};

class UnderWay : public ::testing::TestWithParam<int> {};

TEST_P(UnderWay, EachIsRightAloneAtEveryLength) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 4);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
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

// Short ones: a rank that agreed on each would wait for a line of another one in each.
TEST_P(UnderWay, CallsOfUnknownLengthsAreAgreedOnOnceAPage) {
  const int n = GetParam();
  constexpr Step of_page[] = {1, Calls::Pages::calls_in_page};  // the first calls of two pages
  SharedMemory memory(n, std::size_t{64} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
    for (Step number = 1; number < 2 * Calls::Pages::calls_in_page; ++number) {
      EXPECT_TRUE(rank.start(Collective::scatterv, 10, static_cast<int>(number)));
      const bool is_agreed_on = m.agreed_at(rank.calls().pages().agreement(number), number).has_value();
      EXPECT_EQ(is_agreed_on, std::count(std::begin(of_page), std::end(of_page), number) > 0) << number;
    }
    rank.complete_all(false);
  });
}

TEST_P(UnderWay, LongCallsOfUnknownLengthsAreAgreedOnEach) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{64} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
    for (Step number = 1; number < 5; ++number) {
      EXPECT_TRUE(rank.start(Collective::scatterv, 200000, static_cast<int>(number)));
      EXPECT_TRUE(m.agreed_at(rank.calls().pages().agreement(number), number).has_value()) << number;
      rank.complete_all(false);
    }
  });
}

// Many more than the first pages have lines for.
TEST_P(UnderWay, ManyAtATimeInAnyOrder) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
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
    Rank rank(m, memory);
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
  void complete(Rank& rank) {
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
    Rank rank(m, memory);
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
    Rank rank(m, memory);
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

/// Whether the result lies where all ranks can write.
bool is_folded_in_common(Collective collective, int ranks) {
  return (collective == Collective::allreduce && ranks > 2) ||
         (collective == Collective::reduce && ranks > 4);
}

// Only the result of a fold in common has to lie in memory that the ranks share.
TEST_P(UnderWay, WhatFindsNoRoomLiesInARanksOwnMemory) {
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{40} << 10);
  Ranks all(n, 2);
  std::barrier turn_ends(n);  // a rank far ahead would find no room for the lines of its next calls
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
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
TEST_P(UnderWay, FoldsInCommonAreNotStartedWithoutRoom) {
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{40} << 10);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory, false);
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
TEST_P(UnderWay, OnceReadsAreRefusedOnlySharedMemoryIsRoom) {
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  const RefusedRead refused;
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank full(m, memory, false);
    for (const Collective collective : {Collective::gatherv, Collective::scatterv, Collective::alltoallv})
      EXPECT_FALSE(full.start(collective, 3, 1));
    EXPECT_FALSE(full.start(Collective::allgather, 9000, 1));
  });
}

// No rank may read another's memory, and none knows how much the others give.
TEST_P(UnderWay, WhatMayFindNoRoomIsNotStarted) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20, std::size_t{1} << 30, false);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
    for (const Collective collective : {Collective::gatherv, Collective::scatterv, Collective::alltoallv})
      EXPECT_FALSE(rank.start(collective, 3, 1));
    EXPECT_TRUE(rank.start(Collective::allgather, 3, 2));
    rank.complete_all(false);
  });
}

// All ranks alike.
TEST_P(UnderWay, WhatHasNoMemoryIsNotStarted) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{8} << 20, std::size_t{100'000} * static_cast<std::size_t>(n));
  Ranks all(n, 2);
  std::mutex mutex;
  std::vector<std::vector<bool>> started(static_cast<std::size_t>(n));
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
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
TEST_P(UnderWay, WithoutMemoryForLinesNoMoreAreStarted) {
  const int n = GetParam();
  SharedMemory memory(n, 128);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
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

// A root that needs nothing of the others does not fill the memory before they come.
TEST_P(UnderWay, WhoRunsAheadDoesNotFillTheMemory) {
  const int n = GetParam();
  SharedMemory memory(n, std::size_t{1} << 20);
  Ranks all(n, 2);
  all.run([&](WatchedMachine& m) {
    Rank rank(m, memory);
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
    Rank rank(m, memory);
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
      Rank rank(m, memory);
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
  EXPECT_FALSE(exchange(Collective::reduce_scatter, 101));  // of different lengths
}

INSTANTIATE_TEST_SUITE_P(Ranks, UnderWay, ::testing::Values(2, 3, 5));

/// The root of a bcast gives `given` numbers, of which the other rank wants `wanted`.
void bcast_lengths(std::size_t given, std::size_t wanted,
                   const std::function<void(const CallUnderWay&, const Doubles&)>& look) {
  SharedMemory memory(2, std::size_t{1} << 20);
  Ranks all(2, 4);
  all.run([&](WatchedMachine& m) {
    RankMemory own = memory.for_a_rank();
    Calls calls(m, memory.with(own));
    const bool is_root = m.rank() == 0;
    Doubles data(std::max(given, wanted), is_root ? 1.0 : 0.0);
    CallUnderWay call;
    const std::vector<Block> block(2, {bytes_of(data), (is_root ? given : wanted) * 8}), none;
    call.spec =
        transfer_spec({m.rank(), 2}, Collective::bcast, 0, 0, is_root ? block : none, is_root ? none : block);
    calls.start(call);
    while (!calls.advance(call)) std::this_thread::yield();
    if (!is_root) look(call, data);
  });
}

TEST(UnderWay, MoreThanIsWantedIsNotedAndNotTaken) {
  for (const std::size_t given : {10, 2000})
    bcast_lengths(given, 9, [given](const CallUnderWay& call, const Doubles& data) {
      EXPECT_EQ(call.excess.peer, 0);
      EXPECT_EQ(call.excess.wanted, 72u);
      EXPECT_EQ(call.excess.given, given * 8);
      EXPECT_EQ(data, Doubles(given, 0.0));
    });
}

TEST(UnderWay, LessThanIsWantedIsTaken) {
  for (const std::size_t wanted : {10, 2000})
    bcast_lengths(9, wanted, [wanted](const CallUnderWay& call, const Doubles& data) {
      EXPECT_LT(call.excess.peer, 0);
      Doubles result(wanted, 0.0);
      std::fill_n(result.begin(), 9, 1.0);
      EXPECT_EQ(data, result);
    });
}

}  // namespace
}  // namespace espalier::collective
