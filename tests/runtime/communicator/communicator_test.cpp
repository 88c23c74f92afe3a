// Communicators of real processes: all collectives, life and death of shares, refusals.
#include "runtime/communicator/communicator.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "network/transport.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/setup/agreement.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using testing::Board;
using testing::bootstrap_of;
using testing::Job;
using testing::run_ranks;

const reduce::Operation& sum_of_doubles() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

double value_of(int rank, std::size_t i, int round) {
  return static_cast<double>(
      (static_cast<std::size_t>(rank) * 7919 + i * 31 + static_cast<std::size_t>(round) * 131) % 1021);
}
std::vector<double> vector_of(int rank, std::size_t count, int round) {
  std::vector<double> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = value_of(rank, i, round);
  return v;
}
std::vector<double> sum_of(int ranks, std::size_t count, int round) {
  std::vector<double> v(count, 0);
  for (int r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < count; ++i) v[i] += value_of(r, i, round);
  return v;
}

// Affine maps, composed: associative, but the order of the ranks shows.
struct Affine {
  std::uint64_t a, b;
};
void combine(void* context, const void* left, void* right) {
  const auto* l = static_cast<const Affine*>(left);
  auto* r = static_cast<Affine*>(right);
  for (std::size_t i = 0; i < *static_cast<std::size_t*>(context); ++i)
    r[i] = {l[i].a * r[i].a % 1000003, (l[i].b * r[i].a + r[i].b) % 1000003};
}

void check_predefined(Communicator& comm, std::size_t count, int round) {
  const int n = comm.size(), me = comm.rank(), root = (round + static_cast<int>(count)) % n;
  const auto mine = vector_of(me, count, round);
  const auto sum = sum_of(n, count, round);

  auto data = mine;
  ASSERT_TRUE(comm.bcast(data.data(), count * 8, root));
  EXPECT_EQ(data, vector_of(root, count, round)) << "bcast of " << count;

  std::vector<double> result(count, -1);
  ASSERT_TRUE(comm.reduce(mine.data(), me == root ? result.data() : nullptr, count, sum_of_doubles(), root));
  if (me == root) {
    EXPECT_EQ(result, sum) << "reduce of " << count;
  }

  data = mine;
  ASSERT_TRUE(comm.reduce(me == root ? Communicator::in_place : data.data(), data.data(), count,
                          sum_of_doubles(), root));
  EXPECT_EQ(data, me == root ? sum : mine) << "reduce in place of " << count;

  ASSERT_TRUE(comm.allreduce(mine.data(), result.data(), count, sum_of_doubles()));
  EXPECT_EQ(result, sum) << "allreduce of " << count;
  data = mine;
  ASSERT_TRUE(comm.allreduce(Communicator::in_place, data.data(), count, sum_of_doubles()));
  EXPECT_EQ(data, sum) << "allreduce in place of " << count;
  ASSERT_TRUE(comm.barrier());
}

void check_user_operator(Communicator& comm, std::size_t count) {
  const int n = comm.size(), root = n - 1;
  const auto map_of = [](int rank, std::size_t i) {
    return Affine{static_cast<std::uint64_t>(rank) * 17 + i + 2, static_cast<std::uint64_t>(rank) + i};
  };
  std::vector<Affine> mine(count), wanted(count), result(count);
  for (std::size_t i = 0; i < count; ++i) {
    mine[i] = map_of(comm.rank(), i);
    wanted[i] = map_of(n - 1, i);
  }
  for (int r = n - 2; r >= 0; --r) {
    std::vector<Affine> left(count);
    for (std::size_t i = 0; i < count; ++i) left[i] = map_of(r, i);
    combine(&count, left.data(), wanted.data());
  }
  const UserOperation operation{combine, &count};
  const auto equal = [&] { return std::memcmp(result.data(), wanted.data(), count * sizeof(Affine)) == 0; };
  ASSERT_TRUE(comm.allreduce(mine.data(), result.data(), count * sizeof(Affine), operation));
  EXPECT_TRUE(equal()) << "allreduce with an operator of the user's, " << count;
  ASSERT_TRUE(comm.reduce(comm.rank() == root ? Communicator::in_place : mine.data(), mine.data(),
                          count * sizeof(Affine), operation, root));
  result = mine;
  if (comm.rank() == root) {
    EXPECT_TRUE(equal()) << "reduce with an operator of the user's, " << count;
  }
}

void check_all(Communicator& comm) {
  for (int round = 0; round < 3; ++round)
    for (const std::size_t count : {0, 1, 14, 15, 1000, 4096, 100000}) check_predefined(comm, count, round);
  for (const std::size_t count : {1, 100, 20000}) check_user_operator(comm, count);
}

TEST(Communicator, AllCollectivesOnSeveralSizes) {
  const testing::ShmWatch watch;
  for (const int ranks : {1, 2, 3, 4, 7}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      EXPECT_EQ(comm->rank(), rank);
      EXPECT_EQ(comm->size(), ranks);
      check_all(*comm);
    });
  }
  EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
}

TEST(Communicator, EveryAlgorithmThatTheEnvironmentNames) {
  constexpr int ranks = 4;
  for (const char* setting :
       {"ESPALIER_ALLREDUCE=exchange", "ESPALIER_ALLREDUCE=central", "ESPALIER_ALLREDUCE=tree",
        "ESPALIER_ALLREDUCE=sliced", "ESPALIER_BARRIER=exchange", "ESPALIER_BARRIER=central",
        "ESPALIER_BARRIER=tree", "ESPALIER_SLOTS=1", "ESPALIER_WAIT=sleep", "ESPALIER_INLINE=off",
        "ESPALIER_TOPOLOGY=package:2 core:2 pu:1"}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      const std::string text = setting;
      setenv(text.substr(0, text.find('=')).c_str(), text.substr(text.find('=') + 1).c_str(), 1);
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      SCOPED_TRACE(setting);
      for (const std::size_t count : {1, 14, 15, 4096, 30000}) check_predefined(*comm, count, 1);
    });
  }
}

TEST(Communicator, SubCommunicatorsSideBySide) {
  constexpr int ranks = 5;
  Board world(ranks), even(3), odd(2);
  run_ranks(ranks, [&](int rank) {
    Process::instance().join(bootstrap_of(world, rank));
    const auto all = Communicator::create(bootstrap_of(world, rank));
    const auto half = Communicator::create(bootstrap_of(rank % 2 ? odd : even, rank / 2));
    const auto all_again = Communicator::create(bootstrap_of(world, ranks - 1 - rank));
    const auto self = Communicator::create({0, 1, nullptr});
    for (auto* comm : {all.get(), half.get(), all_again.get(), self.get()})
      ASSERT_TRUE(comm->active()) << comm->refusal();
    for (int round = 0; round < 20; ++round) {
      check_predefined(*all, 300, round);
      for (int i = 0; i <= rank; ++i) check_predefined(*self, 10, i);  // not all come at the same time
      check_predefined(*half, 5000, round);
      check_predefined(*all_again, 40, round);
    }
    world.meet();
  });
}

/// One that nothing may be sent by.
struct Untouched final : network::Transport {
  network::Ticket send(int, int, const void*, std::size_t) override { throw Error("a message was sent"); }
  network::Ticket receive(int, int, void*, std::size_t) override { throw Error("a message was wanted"); }
  bool test(network::Ticket) override { throw Error("a message was tested"); }
  std::optional<network::Arrival> probe(int) override { return std::nullopt; }
  void make_progress() override {}
  int tags() const override { return 1 << 15; }
};

TEST(Communicator, StrangersAreRefusedOnAllRanks) {
  // Two jobs, each with its own arena and transport, and a communicator across both.
  Board left(2), right(2), both(4);
  run_ranks(4, [&](int rank) {
    Process::instance().join(bootstrap_of(rank < 2 ? left : right, rank % 2));
    Process::instance().set_transport(std::make_unique<Untouched>());
    const auto across = Communicator::create(bootstrap_of(both, rank));
    EXPECT_FALSE(across->active());
    EXPECT_EQ(across->refusal(), "spans jobs, and nothing carries Espalier's messages between them");
    double value = 1;
    EXPECT_FALSE(across->allreduce(&value, &value, 1, sum_of_doubles()));
    EXPECT_FALSE(across->barrier());
    const auto within = Communicator::create(bootstrap_of(rank < 2 ? left : right, rank % 2));
    ASSERT_TRUE(within->active()) << within->refusal();
    check_predefined(*within, 100, 0);
  });
}

TEST(Communicator, DifferentSettingsAreRefusedOnAllRanks) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    if (rank == 1) setenv("ESPALIER_ALLREDUCE", "tree", 1);
    const auto comm = Communicator::create(bootstrap_of(board, rank));
    EXPECT_FALSE(comm->active());
    EXPECT_NE(comm->refusal().find("settings differ"), std::string::npos) << comm->refusal();
  });
}

TEST(Communicator, SettingsOfOneRankAloneMayDifferWhereTheyDoNotMatter) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    if (rank == 1) setenv("ESPALIER_FALLBACK", "warn", 1);
    const auto comm = Communicator::create(bootstrap_of(board, rank));
    ASSERT_TRUE(comm->active()) << comm->refusal();
    check_predefined(*comm, 100, 0);
  });
}

TEST(Communicator, OneThatDeclinesIsRefusedOnAllRanks) {
  Board world(3), pair(2);
  run_ranks(3, [&](int rank) {
    if (rank == 2) Process::instance().decline("spawned");
    Process::instance().join(bootstrap_of(world, rank));
    const auto all = Communicator::create(bootstrap_of(world, rank));
    EXPECT_FALSE(all->active());
    EXPECT_NE(all->refusal().find("declines"), std::string::npos) << all->refusal();
    if (rank == 2) return;
    const auto willing = Communicator::create(bootstrap_of(pair, rank));
    ASSERT_TRUE(willing->active()) << willing->refusal();
    check_predefined(*willing, 100, 0);
  });
}

TEST(Communicator, SpentBudgetIsRefusedTogetherAndComesBack) {
  constexpr int ranks = 3;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    setenv("ESPALIER_SHM", "6MiB", 1);
    Process::instance().join(bootstrap_of(board, rank));
    for (int round = 0; round < 3; ++round) {
      std::vector<std::unique_ptr<Communicator>> comms;
      do comms.push_back(Communicator::create(bootstrap_of(board, rank)));
      while (comms.back()->active());
      const int got = static_cast<int>(comms.size()) - 1;
      EXPECT_GT(got, 1);
      EXPECT_NE(comms.back()->refusal().find("budget is spent"), std::string::npos)
          << comms.back()->refusal();
      EXPECT_NE(comms.back()->refusal().find("ESPALIER_SHM"), std::string::npos);
      std::vector<int> all_ranks(ranks);
      board.allgather(rank, &got, all_ranks.data(), sizeof got);
      EXPECT_EQ(all_ranks, std::vector<int>(ranks, got));
      for (int i = 0; i < got; ++i) check_predefined(*comms[static_cast<std::size_t>(i)], 2000, i);
      comms.clear();
      board.meet();
      EXPECT_EQ(Process::instance().node()->arena()->used(), 0u);
      board.meet();  // no rank allocates again before all have looked
    }
  });
}

TEST(Communicator, RingsAreLongUntilHalfTheBudgetIsGone) {
  constexpr int ranks = 3;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    setenv("ESPALIER_SHM", "32MiB", 1);
    Process::instance().join(bootstrap_of(board, rank));
    const memory::Arena& arena = *Process::instance().node()->arena();
    std::vector<std::unique_ptr<Communicator>> comms;
    std::vector<std::size_t> taken;  // by rank 0, which alone allocates
    do {
      const std::size_t before = arena.used();
      comms.push_back(Communicator::create(bootstrap_of(board, rank)));
      if (rank == 0) taken.push_back(arena.used() - before);
    } while (comms.back()->active());
    comms.pop_back();
    for (std::size_t i = 0; i < comms.size(); ++i) check_predefined(*comms[i], 20'000, static_cast<int>(i));
    if (rank != 0) return;
    EXPECT_GE(taken.front(), std::size_t{3} * 16 * 32 * 1024);
    EXPECT_LT(taken[comms.size() - 1], taken.front() * 2 / 3);
    EXPECT_GT(comms.size(), arena.budget() / taken.front());
  });
}

void share_a_core(Board& board, int rank, int ranks) {
  const int here = sched_getcpu();
  std::vector<int> all_ranks(static_cast<std::size_t>(ranks));
  board.allgather(rank, &here, all_ranks.data(), sizeof here);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all_ranks.front(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

// One copy by the kernel, or two through the slots, as the root finds quicker: it tries both.
TEST(Communicator, ScattersOfRanksThatShareCoresGoEitherWay) {
  constexpr int ranks = 6, root = 2;
  constexpr std::size_t count = 12500;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    share_a_core(board, rank, ranks);
    const auto comm = Communicator::create(bootstrap_of(board, rank));
    ASSERT_TRUE(comm->active()) << comm->refusal();
    for (int round = 0; round < 30; ++round) {
      std::vector<double> send, got(count, -1);
      for (int r = 0; r < ranks && rank == root; ++r) {
        const auto block = vector_of(r, count, round);
        send.insert(send.end(), block.begin(), block.end());
      }
      ASSERT_TRUE(comm->scatter(send.data(), got.data(), count * 8, root));
      std::fill(send.begin(), send.end(), -2);  // it is the root's again
      ASSERT_EQ(got, vector_of(rank, count, round)) << "round " << round;
    }
  });
}

TEST(Communicator, RanksThatShareCoresHavePairwiseCells) {
  constexpr int ranks = 3;
  for (const bool pairwise : {true, false}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      setenv("ESPALIER_PAIRWISE", pairwise ? "on" : "off", 1);
      share_a_core(board, rank, ranks);
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      for (const std::size_t count : {14, 4096, 30000}) check_predefined(*comm, count, 1);
      const machine::Layout oversubscribed = layout_on_one_node(ranks, ranks, ranks);
      EXPECT_EQ(oversubscribed.bytes() > layout_on_one_node(ranks, ranks, 1).bytes(), pairwise);
      if (rank == 0) {
        EXPECT_GE(Process::instance().node()->arena()->used(), oversubscribed.bytes());
      }
    });
  }
}

TEST(Communicator, TwoRanksMoveMessagesThroughEitherRing) {
  constexpr int ranks = 2, rounds = 100;
  for (const bool short_rings : {true, false}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      setenv("ESPALIER_SHORT_RINGS", short_rings ? "on" : "off", 1);
      EXPECT_EQ(layout_on_one_node(ranks, ranks, 1).short_slots() > 0, short_rings);
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      for (int round = 0; round < rounds; ++round)
        for (const std::size_t count : {14, 2500, 4096, 8000}) check_predefined(*comm, count, round);
    });
  }
}

TEST(Communicator, ThousandsOfLivesChangeNothing) {
  constexpr int ranks = 2;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    Process::instance().join(bootstrap_of(board, rank));
    const auto keep = Communicator::create(bootstrap_of(board, rank));
    memory::Arena& arena = *Process::instance().node()->arena();
    const std::size_t at_start = arena.used();
    EXPECT_GT(at_start, 0u);
    board.meet();  // no rank allocates before all have looked
    for (int i = 0; i < 2000; ++i) {
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      ASSERT_TRUE(comm->active()) << "cycle " << i << ": " << comm->refusal();
      double value = rank + i, sum = 0;
      ASSERT_TRUE(comm->allreduce(&value, &sum, 1, sum_of_doubles()));
      ASSERT_EQ(sum, 2 * i + 1);
    }
    board.meet();
    EXPECT_EQ(arena.used(), at_start);
    check_predefined(*keep, 1000, 0);
  });
}

TEST(Communicator, LeavingGivesTheArenaBack) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    for (int life = 0; life < 5; ++life) {
      Process::instance().join(bootstrap_of(board, rank));
      {
        const auto comm = Communicator::create(bootstrap_of(board, rank));
        ASSERT_TRUE(comm->active()) << comm->refusal();
        check_predefined(*comm, 100, life);
      }
      board.meet();
      Process::instance().leave();
      EXPECT_EQ(Process::instance().node(), nullptr);
    }
  });
}

bool maps(const std::string& part) {
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

// Without memfd: a name in /dev/shm, gone before the first collective.
TEST(Communicator, NamedMemoryLeavesNothing) {
  const testing::ShmWatch watch;
  constexpr int ranks = 3;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    setenv("ESPALIER_MEMFD", "off", 1);
    const auto comm = Communicator::create(bootstrap_of(board, rank));
    ASSERT_TRUE(comm->active()) << comm->refusal();
    EXPECT_TRUE(maps("/dev/shm/espalier-")) << "not the way that this test is about";
    board.meet();
    EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
    check_predefined(*comm, 3000, 0);
  });
  EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
}

TEST(Communicator, KilledRanksLeaveNothing) {
  const testing::ShmWatch watch;
  constexpr int ranks = 4;
  for (const char* memfd : {"on", "off"}) {
    Board board(ranks + 1);  // the parent meets, too
    Board world(ranks);
    Job job(ranks, [&](int rank) {
      setenv("ESPALIER_MEMFD", memfd, 1);
      const auto comm = Communicator::create(bootstrap_of(world, rank));
      ASSERT_TRUE(comm->active()) << comm->refusal();
      board.meet();
      if (rank == 2) pause();  // does not come
      std::vector<double> data(10000, 1.0);
      try {
        comm->allreduce(Communicator::in_place, data.data(), data.size(), sum_of_doubles());
      } catch (const std::exception&) {  // it has heard of rank 2: the parent took longer than a look around
        for (;;) pause();
      }
      ADD_FAILURE() << "rank " << rank << " went on without rank 2";
    });
    board.meet();
    usleep(20000);
    EXPECT_EQ(job.end(2), -SIGKILL);
    usleep(20000);
    EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
    for (const int rank : {0, 1, 3}) EXPECT_EQ(job.end(rank), -SIGKILL);
    EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
  }
}

// ESPALIER_SHM that is too small for an arena: refused in words, on all ranks, and no name stays.
TEST(Communicator, NoRoomForAnArenaIsRefused) {
  const testing::ShmWatch watch;
  for (const char* budget : {"0", "100KiB"}) {
    Board board(2);
    run_ranks(2, [&](int rank) {
      setenv("ESPALIER_SHM", budget, 1);
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      EXPECT_FALSE(comm->active());
      EXPECT_NE(comm->refusal().find("no shared memory"), std::string::npos) << comm->refusal();
      EXPECT_FALSE(Process::instance().node()->refusal().empty());
    });
  }
  EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
}

}  // namespace
}  // namespace espalier::runtime
