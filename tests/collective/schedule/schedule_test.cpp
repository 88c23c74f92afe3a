// Prepared collectives on ranks that are threads: results and bits over many turns, ranks that come late, and
// ranks that are elsewhere between a start and its completion.
#include "tests/collective/prepared.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/collective/doubles.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using testing::bytes_of;
using testing::Ranks;
using testing::Sketch;
using testing::sum_of_doubles;
using testing::WatchedMachine;

/// Zeroed, on pages.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes + 4096) {}
  std::byte* base() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (4096 - address % 4096) % 4096;
  }

 private:
  std::vector<std::byte> bytes_;
};

class ScheduledReduction : public ::testing::TestWithParam<std::tuple<Collective, int, std::size_t>> {
 protected:
  Collective collective() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }
  std::size_t count() const { return std::get<2>(GetParam()); }
};

TEST_P(ScheduledReduction, IsRightInEveryTurn) {
  constexpr int root = 1, rounds = 5;
  const int n = ranks();
  const auto spec_of = [&](int rank, std::byte* send, std::byte* receive) {
    return reduction_spec({rank, n}, collective(), root, send, receive, count() * sizeof(double),
                          sum_of_doubles());
  };
  const Sketch sizes(n, 15, [&](int rank) { return spec_of(rank, nullptr, nullptr); });
  Memory memory(sizes.buffer_layout().end());
  Ranks all(n, sizes.buffer_layout().slots());
  all.run([&](WatchedMachine& m) {
    const int rank = m.rank();
    std::vector<double> send(count()), receive(count());
    const Sketch sketch(n, 15, [&](int which) { return spec_of(which, bytes_of(send), bytes_of(receive)); });
    const Schedule schedule = sketch.prepare(rank, memory.base());
    for (int round = 0; round < rounds; ++round) {
      const auto values = testing::vector_of(rank, count(), round);
      std::copy(values.begin(), values.end(), send.begin());
      const Epoch epoch = start(m, schedule);
      if (round == rank % rounds) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      complete(m, schedule, epoch);
      const bool all_ranks =
          collective() == Collective::allreduce || (collective() == Collective::reduce && rank == root);
      if (all_ranks) {
        ASSERT_EQ(receive, testing::sum_of(n, count(), round));
      } else if (collective() == Collective::scan) {
        ASSERT_EQ(receive, testing::sum_of(rank + 1, count(), round));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, ScheduledReduction,
    ::testing::Combine(::testing::Values(Collective::allreduce, Collective::reduce, Collective::scan),
                       ::testing::Values(2, 3, 5),
                       ::testing::Values(std::size_t{1}, std::size_t{14}, std::size_t{100},
                                         std::size_t{5'000}, std::size_t{30'001})),
    [](const auto& param) {
      return std::string(to_string(std::get<0>(param.param))) + "_" +
             std::to_string(std::get<1>(param.param)) + "_ranks_" + std::to_string(std::get<2>(param.param));
    });

// Invariant 3, also where the rank that comes by folds: the order of the ranks is fixed, the rank that does
// it.
TEST(Schedule, AllreduceGivesTheSameBitsInEveryTurnAndOnEveryRank) {
  constexpr int n = 4, rounds = 20;
  constexpr std::size_t count = 20'000;
  const reduce::Operation& operation = *reduce::find(reduce::Op::sum, reduce::Type::float32);
  std::vector<std::vector<float>> sends;
  for (int rank = 0; rank < n; ++rank) sends.push_back(testing::floats_of(rank, count));
  const auto spec_of = [&](int rank, void* receive) {
    return reduction_spec({rank, n}, Collective::allreduce, 0,
                          reinterpret_cast<std::byte*>(sends[static_cast<std::size_t>(rank)].data()),
                          static_cast<std::byte*>(receive), count * sizeof(float), operation);
  };
  const Sketch sizes(n, 15, [&](int rank) { return spec_of(rank, nullptr); });
  Memory memory(sizes.buffer_layout().end());
  const std::vector<float> wanted = testing::sum_in_order(0, n - 1, count);
  Ranks all(n, sizes.buffer_layout().slots());
  all.run([&](WatchedMachine& m) {
    std::vector<float> receive(count);
    const Sketch sketch(n, 15, [&](int rank) { return spec_of(rank, receive.data()); });
    const Schedule schedule = sketch.prepare(m.rank(), memory.base());
    for (int round = 0; round < rounds; ++round) {
      if (round % n == m.rank()) std::this_thread::sleep_for(std::chrono::microseconds(300));
      complete(m, schedule, start(m, schedule));
      ASSERT_TRUE(testing::same_bits(receive, wanted)) << "turn " << round << " on rank " << m.rank();
    }
  });
}

// Invariant 2: a rank that has started owes nothing. Rank 0 is away until all others are through.
TEST(Schedule, OthersGoOnWhileARankThatHasStartedIsAway) {
  constexpr int n = 3;
  constexpr std::size_t count = 10'000;  // folded in common
  const auto spec_of = [&](int rank, std::byte* send, std::byte* receive) {
    return reduction_spec({rank, n}, Collective::allreduce, 0, send, receive, count * sizeof(double),
                          sum_of_doubles());
  };
  const Sketch sizes(n, 15, [&](int rank) { return spec_of(rank, nullptr, nullptr); });
  Memory memory(sizes.buffer_layout().end());
  std::atomic<int> through{0};
  Ranks all(n, sizes.buffer_layout().slots());
  all.run([&](WatchedMachine& m) {
    std::vector<double> send = testing::vector_of(m.rank(), count, 0), receive(count);
    const Sketch sketch(n, 15, [&](int rank) { return spec_of(rank, bytes_of(send), bytes_of(receive)); });
    const Schedule schedule = sketch.prepare(m.rank(), memory.base());
    const Epoch epoch = start(m, schedule);
    if (m.rank() == 0)
      while (through < n - 1) std::this_thread::yield();
    complete(m, schedule, epoch);
    ++through;
    EXPECT_EQ(receive, testing::sum_of(n, count, 0));
  });
}

TEST(Schedule, IsReadyOnlyWhenAllHaveStartedAndWaitsForNobody) {
  constexpr int n = 2;
  const Sketch sketch(n, 15, [](int rank) { return barrier_spec({rank, n}); });
  Memory memory(sketch.buffer_layout().end());
  Ranks all(n, sketch.buffer_layout().slots());
  WatchedMachine &first = all.machine(0), &second = all.machine(1);
  const Schedule mine = sketch.prepare(0, memory.base()), theirs = sketch.prepare(1, memory.base());
  const Epoch epoch = start(first, mine);
  EXPECT_FALSE(is_ready(first, mine, epoch));
  const Epoch other = start(second, theirs);
  EXPECT_TRUE(is_ready(first, mine, epoch));
  complete(first, mine, epoch);
  const Epoch next = start(first, mine);  // one ahead of who has not completed yet
  EXPECT_FALSE(is_ready(first, mine, next));
  EXPECT_TRUE(is_ready(second, theirs, other));
  complete(second, theirs, other);
}

}  // namespace
}  // namespace espalier::collective
