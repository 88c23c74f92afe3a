// Nonblocking collectives on ranks that are threads: results over many calls of every kind, many under way at
// a time, completed in any order; ranks that are elsewhere, lines and memory that run out.
#include "collective/schedule/calls_under_way.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <numeric>

#include "tests/collective/floats.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/collective/under_way.hpp"

namespace espalier::collective {
namespace {

using machine::HostMachine;
using testing::RankMemory;
using testing::RankMemoryOf;
using testing::Ranks;
using Calls = CallsUnderWay<HostMachine, RankMemoryOf>;
using Doubles = std::vector<double>;

std::byte* bytes_of(Doubles& v) { return reinterpret_cast<std::byte*>(v.data()); }
const reduce::Operation& sum_of_doubles() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

/// Memory that all ranks share, and what each of them has of it.
class Memory {
 public:
  Memory(int ranks, std::size_t each) : each_(each), bytes_((static_cast<std::size_t>(ranks) * each) + 256) {}
  std::byte* base() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (128 - address % 128) % 128;
  }
  /// Not from the base on: there is no buffer.
  RankMemory of(int rank) { return {base() + 128 + static_cast<std::size_t>(rank) * each_, each_ - 128}; }

 private:
  std::size_t each_;
  std::vector<std::byte> bytes_;
};

/// One rank, and what it has started.
class Rank {
 public:
  Rank(HostMachine& m, Memory& memory)
      : m_(m), memory_(memory.of(m.rank())), calls_(m, memory.base(), {&memory_}) {}

  struct Started {
    CallUnderWay call;
    Doubles send, receive, wanted;
  };
  Started& start(Collective collective, std::size_t count, int round) {
    Started& started = started_.emplace_back();
    started.call.spec = spec_of(collective, count, round, started);
    calls_.start(started.call);
    return started;
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
  PersistentSpec spec_of(Collective collective, std::size_t count, int round, Started& to);
  PersistentSpec transfer(Collective collective, const std::vector<std::size_t>& sent,
                          const std::vector<std::size_t>& received, int round, Started& to);

  HostMachine& m_;
  RankMemory memory_;
  Calls calls_;
  std::list<Started> started_;
};

/// `sent`, `received`: how many numbers go to each rank, or come from it. A bcast or allgather has one block
/// for all.
PersistentSpec Rank::transfer(Collective collective, const std::vector<std::size_t>& sent,
                              const std::vector<std::size_t>& received, int round, Started& to) {
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
  return transfer_spec({rank, n}, collective, 0, 0, out, in);
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
      return transfer(collective, to_others, rank == 0 ? none : from_root, round, to);
    }
    case Collective::allgather:
    case Collective::alltoall:
      return transfer(collective, all, all, round, to);
    case Collective::scatterv: {
      std::vector<std::size_t> sent = none, received = none;
      for (std::size_t i = 0; i < ranks && rank == 0; ++i) sent[i] = count + i;
      received[0] = count + static_cast<std::size_t>(rank);
      return transfer(collective, sent, received, round, to);
    }
    default:
      break;
  }
  to.send = testing::vector_of(rank, count, round);
  const int last = collective == Collective::scan ? rank + 1 : n;
  const bool has_result = collective != Collective::reduce || rank == 1;
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

constexpr Collective kinds[] = {Collective::barrier,  Collective::bcast,    Collective::allgather,
                                Collective::alltoall, Collective::reduce,   Collective::allreduce,
                                Collective::scan,     Collective::scatterv, Collective::reduce_scatter};

class UnderWay : public ::testing::TestWithParam<int> {};

TEST_P(UnderWay, EachIsRightAloneAtEveryLength) {
  const int n = GetParam();
  Memory memory(n, std::size_t{8} << 20);
  Ranks all(n, 4);
  all.run([&](HostMachine& m) {
    Rank rank(m, memory);
    int round = 0;
    for (const std::size_t count : {1, 12, 13, 200, 600, 9000})
      for (const Collective collective : kinds)
        for (int i = 0; i < 5; ++i) {
          rank.start(collective, count, ++round);
          rank.complete_all(false);
        }
    EXPECT_TRUE(rank.calls().is_empty());
  });
}

// More than there are lines, so that starts have to give their data later.
TEST_P(UnderWay, ManyAtATimeInAnyOrder) {
  const int n = GetParam();
  for (const int lines : {2, 16}) {
    Memory memory(n, std::size_t{4} << 20);
    Ranks all(n, lines);
    all.run([&](HostMachine& m) {
      Rank rank(m, memory);
      int round = 0;
      for (int turn = 0; turn < 6; ++turn) {
        for (const std::size_t count : {2, 700})
          for (const Collective collective : kinds) rank.start(collective, count, ++round);
        rank.complete_all((turn + m.rank()) % 2 == 0);
      }
      EXPECT_FALSE(rank.calls().has_unpublished());
    });
  }
}

// Memory for one buffer, or for a few.
TEST_P(UnderWay, WithoutMemoryTheyFollowEachOther) {
  const int n = GetParam();
  Memory memory(n, std::size_t{40} << 10);
  Ranks all(n, 32);
  all.run([&](HostMachine& m) {
    Rank rank(m, memory);
    int round = 0;
    for (int turn = 0; turn < 4; ++turn) {
      for (int i = 0; i < 10; ++i) rank.start(kinds[(turn + i) % std::size(kinds)], 1000, ++round);
      rank.complete_all(turn % 2 == 0);
    }
  });
}

// Rank 0 starts, and comes back when all others are done.
TEST_P(UnderWay, WhoHasStartedOwesNothing) {
  const int n = GetParam();
  Memory memory(n, std::size_t{8} << 20);
  Ranks all(n, 32);
  std::atomic<int> done = 0;
  all.run([&](HostMachine& m) {
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

INSTANTIATE_TEST_SUITE_P(Ranks, UnderWay, ::testing::Values(2, 3, 5));

TEST(UnderWay, DifferentLengthsAreAnError) {
  Memory memory(2, std::size_t{1} << 20);
  Ranks all(2, 4);
  all.run([&](HostMachine& m) {
    RankMemory own = memory.of(m.rank());
    Calls calls(m, memory.base(), {&own});
    Doubles data(10);
    CallUnderWay call;
    const bool is_root = m.rank() == 0;
    const std::vector<Block> block(2, {bytes_of(data), is_root ? 80u : 72u}), none;
    call.spec =
        transfer_spec({m.rank(), 2}, Collective::bcast, 0, 0, is_root ? block : none, is_root ? none : block);
    calls.start(call);
    const auto complete = [&] {
      while (!calls.advance(call)) std::this_thread::yield();
    };
    if (is_root)
      complete();
    else
      EXPECT_THROW(complete(), Error);
  });
}

}  // namespace
}  // namespace espalier::collective
