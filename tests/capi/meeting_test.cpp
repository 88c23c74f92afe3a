// The C API as its users see it, from processes that share nothing but a name, or a bootstrap of the
// caller's.
#include "espalier/espalier.h"

#include <gtest/gtest.h>

#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "tests/capi/met.hpp"
#include "tests/capi/seat.hpp"

namespace {

using espalier::testing::Board;
using espalier::testing::check_collectives;
using espalier::testing::error_has;
using espalier::testing::gather_on_board;
using espalier::testing::Met;
using espalier::testing::own_name;
using espalier::testing::run_ranks;
using espalier::testing::Seat;

TEST(Meet, CollectivesAreRight) {
  const espalier::testing::ShmWatch watch;
  for (const int ranks : {1, 2, 5})
    run_ranks(ranks, [&](int rank) {
      const Met met(own_name("right"), rank, ranks);
      ASSERT_EQ(espalier_comm_rank(met.comm), rank);
      ASSERT_EQ(espalier_comm_size(met.comm), ranks);
      check_collectives(met.comm);
    });
  EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
}

TEST(Meet, FirstMayComeLast) {
  run_ranks(3, [&](int rank) {
    if (rank == 0) usleep(100000);
    const Met met(own_name("late"), rank, 3);
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_OK);
  });
}

TEST(Meet, TwoNamesAtOnceDoNotDisturbEachOther) {
  run_ranks(6, [&](int rank) {
    const int group = rank % 2;
    const Met met(own_name(group ? "odd" : "even"), rank / 2, 3);
    for (int i = 0; i < 50; ++i) {
      std::int64_t value = rank, sum = 0;
      ASSERT_EQ(espalier_allreduce(met.comm, &value, &sum, 1, ESPALIER_INT64, ESPALIER_SUM), ESPALIER_OK);
      EXPECT_EQ(sum, group ? 1 + 3 + 5 : 0 + 2 + 4);
    }
  });
}

// What thread `thread` of a process adds up on a communicator of its own, which stays until all threads are
// done.
void add_up(const std::string& name, int rank, int ranks, int thread, std::barrier<>& done) {
  const Met met(name, rank, ranks);
  for (int i = 0; met.comm && i < 300; ++i) {
    const std::int64_t value = rank + i * (thread + 1);
    std::int64_t sum = 0;
    EXPECT_EQ(espalier_allreduce(met.comm, &value, &sum, 1, ESPALIER_INT64, ESPALIER_SUM), ESPALIER_OK);
    EXPECT_EQ(sum, ranks * (ranks - 1) / 2 + ranks * i * (thread + 1));
  }
  done.arrive_and_wait();
}

// The first communicator of a process makes it join the node: threads that want one at once must not do that
// twice.
TEST(Meet, ThreadsMakeTheFirstCommunicatorsAtTheSameTime) {
  constexpr int ranks = 3, threads = 3;
  for (int round = 0; round < 5; ++round)
    run_ranks(ranks, [&](int rank) {
      std::barrier done(threads);
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] { add_up(own_name("threads") + std::to_string(t), rank, ranks, t, done); });
      for (std::thread& each : all) each.join();
    });
}

TEST(Meet, ThreadsMakeTheFirstCommunicatorsWithTheRanksTurned) {
  for (int round = 0; round < 5; ++round)
    run_ranks(2, [&](int rank) {
      std::barrier done(2);
      std::thread other([&] { add_up(own_name("turned"), 1 - rank, 2, 1, done); });
      add_up(own_name("straight"), rank, 2, 0, done);
      other.join();
    });
}

TEST(Meet, OneNameTwiceOneAfterTheOther) {
  run_ranks(2, [&](int rank) {
    for (int i = 0; i < 3; ++i) {
      const Met met(own_name("again"), rank, 2);
      EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_OK);
    }
  });
}

TEST(Meet, RankThatDoesNotComeIsATimeout) {
  run_ranks(2, [&](int rank) {
    espalier_comm* comm = nullptr;
    const std::string name = own_name("timeout");
    // Three ranks: rank 2 never comes.
    if (rank == 0) {
      EXPECT_EQ(espalier_comm_meet(name.c_str(), 0, 3, 300, &comm), ESPALIER_ERR_TIMEOUT);
      EXPECT_TRUE(error_has("1 of 3 ranks did not come")) << espalier_error_text();
    } else {
      const int code = espalier_comm_meet(name.c_str(), 1, 3, 5000, &comm);
      EXPECT_EQ(code, ESPALIER_ERR_TIMEOUT);
      EXPECT_TRUE(error_has("1 of 3 ranks did not come") && error_has("rank 2")) << espalier_error_text();
    }
    EXPECT_EQ(comm, nullptr);
  });
}

TEST(Meet, NobodyThereIsATimeout) {
  run_ranks(1, [&](int) {
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_meet(own_name("absent").c_str(), 1, 2, 50, &comm), ESPALIER_ERR_TIMEOUT);
    EXPECT_TRUE(error_has("rank 0 did not come")) << espalier_error_text();
  });
}

TEST(Meet, AnotherSizeIsNamedAndSoIsARankThatIsTaken) {
  run_ranks(2, [&](int rank) {
    espalier_comm* comm = nullptr;
    const std::string name = own_name("size");
    const int code = espalier_comm_meet(name.c_str(), rank, rank == 0 ? 2 : 3, 5000, &comm);
    EXPECT_NE(code, ESPALIER_OK);
    if (rank == 0) {
      EXPECT_EQ(code, ESPALIER_ERR_ARGUMENT);
      EXPECT_TRUE(error_has("rank 1 of 3")) << espalier_error_text();
    }
  });
  run_ranks(3, [&](int process) {
    espalier_comm* comm = nullptr;
    const int rank = process == 0 ? 0 : 1;
    const int code = espalier_comm_meet(own_name("taken").c_str(), rank, 3, 5000, &comm);
    EXPECT_NE(code, ESPALIER_OK);
    if (rank == 0) {
      EXPECT_TRUE(error_has("a second time")) << espalier_error_text();
    }
  });
}

TEST(Meet, BadArgumentsAreNamed) {
  run_ranks(1, [&](int) {
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_meet("x", 2, 2, 100, &comm), ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("rank 2 of 2")) << espalier_error_text();
    EXPECT_EQ(espalier_comm_meet("x", 0, 0, 100, &comm), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_meet("x", 0, 1, 100, nullptr), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_meet(nullptr, 0, 1, 100, &comm), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_meet("", 0, 1, 100, &comm), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_meet(std::string(200, 'x').c_str(), 0, 1, 100, &comm), ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("too long")) << espalier_error_text();
    EXPECT_EQ(espalier_comm_create(0, 2, nullptr, nullptr, &comm), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(comm, nullptr);
    espalier_comm_free(nullptr);
  });
}

TEST(Create, FromABootstrapOfTheCallers) {
  constexpr int ranks = 4;
  Board board(ranks), pair(2);
  run_ranks(ranks, [&](int rank) {
    Seat seat{&board, rank};
    espalier_comm* comm = nullptr;
    ASSERT_EQ(espalier_comm_create(rank, ranks, gather_on_board, &seat, &comm), ESPALIER_OK)
        << espalier_error_text();
    check_collectives(comm);
    if (rank < 2) {  // a later one among the first one's ranks
      Seat other{&pair, rank};
      espalier_comm* half = nullptr;
      ASSERT_EQ(espalier_comm_create(rank, 2, gather_on_board, &other, &half), ESPALIER_OK)
          << espalier_error_text();
      check_collectives(half);
      espalier_comm_free(half);
    }
    espalier_comm_free(comm);
  });
}

TEST(Create, FailingBootstrapIsAnError) {
  run_ranks(1, [&](int) {
    espalier_comm* comm = nullptr;
    const auto fails = [](const void*, void*, std::size_t, void*) { return 1; };
    EXPECT_EQ(espalier_comm_create(0, 2, fails, nullptr, &comm), ESPALIER_ERR_SYSTEM);
    EXPECT_TRUE(error_has("allgather function failed")) << espalier_error_text();
  });
}

TEST(Create, RefusalIsTheSameOnAllRanks) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    if (rank == 1) setenv("ESPALIER_SLOTS", "4", 1);
    Seat seat{&board, rank};
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_create(rank, 3, gather_on_board, &seat, &comm), ESPALIER_ERR_REFUSED);
    EXPECT_TRUE(error_has("settings differ")) << espalier_error_text();
  });
}

}  // namespace
