// The C API as its users see it, from processes that share nothing but a name, or a bootstrap of the
// caller's.
#include "espalier/espalier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <numeric>
#include <string>

#include "tests/capi/seat.hpp"
#include "tests/runtime/processes.hpp"

namespace {

using espalier::testing::Board;
using espalier::testing::gather_on_board;
using espalier::testing::Job;
using espalier::testing::run_ranks;
using espalier::testing::Seat;

std::string own_name(const char* test) {
  return std::string("capi-test-") + test + "-" + std::to_string(getppid());
}
bool error_has(const std::string& part) {
  return std::string(espalier_error_text()).find(part) != std::string::npos;
}

/// A communicator that goes with the test; meets under a name.
struct Met {
  espalier_comm* comm = nullptr;
  Met(const std::string& name, int rank, int size) {
    EXPECT_EQ(espalier_comm_meet(name.c_str(), rank, size, 20000, &comm), ESPALIER_OK)
        << espalier_error_text();
  }
  ~Met() { espalier_comm_free(comm); }
};

void check_collectives(espalier_comm* comm) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm);
  for (const std::size_t count : {0, 1, 20, 5000, 200000}) {
    std::vector<double> send(count), receive(count, -1), sum(count);
    for (std::size_t i = 0; i < count; ++i) {
      send[i] = me + static_cast<double>(i % 100);
      sum[i] = n * (n - 1) / 2.0 + n * static_cast<double>(i % 100);
    }
    ASSERT_EQ(espalier_allreduce(comm, send.data(), receive.data(), count, ESPALIER_DOUBLE, ESPALIER_SUM),
              ESPALIER_OK);
    EXPECT_EQ(receive, sum);
    receive = send;
    ASSERT_EQ(
        espalier_allreduce(comm, ESPALIER_IN_PLACE, receive.data(), count, ESPALIER_DOUBLE, ESPALIER_SUM),
        ESPALIER_OK);
    EXPECT_EQ(receive, sum);
    for (int root = 0; root < n; ++root) {
      receive.assign(count, -1);
      ASSERT_EQ(espalier_reduce(comm, send.data(), me == root ? receive.data() : nullptr, count,
                                ESPALIER_DOUBLE, ESPALIER_SUM, root),
                ESPALIER_OK);
      EXPECT_EQ(receive, me == root ? sum : std::vector<double>(count, -1));
      receive = send;
      ASSERT_EQ(espalier_reduce(comm, me == root ? ESPALIER_IN_PLACE : send.data(), receive.data(), count,
                                ESPALIER_DOUBLE, ESPALIER_SUM, root),
                ESPALIER_OK);
      EXPECT_EQ(receive, me == root ? sum : send);
      receive.assign(count, me);
      ASSERT_EQ(espalier_bcast(comm, receive.data(), count * sizeof(double), root), ESPALIER_OK);
      EXPECT_EQ(receive, std::vector<double>(count, root));
    }
    ASSERT_EQ(espalier_barrier(comm), ESPALIER_OK);
  }
}

using Bytes = std::vector<char>;

// What `from` has for `to`.
Bytes block_of(int from, int to, std::size_t bytes) {
  Bytes block(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    block[i] = static_cast<char>(from * 57 + to * 11 + static_cast<int>(i % 101));
  return block;
}
void append(Bytes& all, const Bytes& block) { all.insert(all.end(), block.begin(), block.end()); }
void* in_place_target() { return const_cast<void*>(ESPALIER_IN_PLACE); }

void check_blocks(espalier_comm* comm, std::size_t bytes) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm);
  const auto ranks = static_cast<std::size_t>(n), own = static_cast<std::size_t>(me) * bytes;
  Bytes from_all, to_me, to_all;
  for (int r = 0; r < n; ++r) {
    append(from_all, block_of(r, 0, bytes));
    append(to_me, block_of(r, me, bytes));
    append(to_all, block_of(me, r, bytes));
  }
  const Bytes mine = block_of(me, 0, bytes);
  Bytes got(bytes * ranks, '?');
  ASSERT_EQ(espalier_allgather(comm, mine.data(), got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, from_all);
  got.assign(got.size(), '?');
  std::copy(mine.begin(), mine.end(), got.begin() + static_cast<std::ptrdiff_t>(own));
  ASSERT_EQ(espalier_allgather(comm, ESPALIER_IN_PLACE, got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, from_all);
  ASSERT_EQ(espalier_alltoall(comm, to_all.data(), got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, to_me);
  got = to_all;
  ASSERT_EQ(espalier_alltoall(comm, ESPALIER_IN_PLACE, got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, to_me);
  for (int root = 0; root < n; ++root) {
    got.assign(bytes * ranks, '?');
    ASSERT_EQ(espalier_gather(comm, mine.data(), me == root ? got.data() : nullptr, bytes, root),
              ESPALIER_OK);
    EXPECT_EQ(got, me == root ? from_all : Bytes(bytes * ranks, '?'));
    Bytes part(bytes, '?');
    ASSERT_EQ(espalier_scatter(comm, me == root ? to_all.data() : nullptr, part.data(), bytes, root),
              ESPALIER_OK);
    EXPECT_EQ(part, block_of(root, me, bytes));
    part.assign(bytes, '?');
    ASSERT_EQ(
        espalier_scatter(comm, to_all.data(), me == root ? in_place_target() : part.data(), bytes, root),
        ESPALIER_OK);
    EXPECT_EQ(part, me == root ? Bytes(bytes, '?') : block_of(root, me, bytes));
  }
}

// Rank r has r * bytes for everybody, each block behind a hole of one byte.
void check_unequal_blocks(espalier_comm* comm, std::size_t bytes) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm), root = n - 1;
  const auto ranks = static_cast<std::size_t>(n);
  std::vector<std::size_t> sizes(ranks), offsets(ranks), own(ranks, static_cast<std::size_t>(me) * bytes),
      own_offsets(ranks);
  Bytes from_all, to_me, to_all;
  for (int r = 0; r < n; ++r) {
    const auto i = static_cast<std::size_t>(r);
    sizes[i] = i * bytes;
    offsets[i] = from_all.size() + 1;
    own_offsets[i] = to_all.size() + 1;
    for (Bytes* all : {&from_all, &to_me, &to_all}) all->push_back('?');
    append(from_all, block_of(r, 0, sizes[i]));
    append(to_me, block_of(r, me, sizes[i]));
    append(to_all, block_of(me, r, own[i]));
  }
  const Bytes mine = block_of(me, 0, own[0]), untouched(from_all.size(), '?');
  Bytes got = untouched;
  ASSERT_EQ(espalier_allgatherv(comm, mine.data(), got.data(), sizes.data(), offsets.data()), ESPALIER_OK);
  EXPECT_EQ(got, from_all);
  got = untouched;
  ASSERT_EQ(espalier_alltoallv(comm, to_all.data(), own.data(), own_offsets.data(), got.data(), sizes.data(),
                               offsets.data()),
            ESPALIER_OK);
  EXPECT_EQ(got, to_me);
  got = untouched;
  const bool is_root = me == root;
  ASSERT_EQ(espalier_gatherv(comm, mine.data(), mine.size(), is_root ? got.data() : nullptr,
                             is_root ? sizes.data() : nullptr, is_root ? offsets.data() : nullptr, root),
            ESPALIER_OK);
  EXPECT_EQ(got, is_root ? from_all : untouched);
  Bytes part(own[0], '?');
  ASSERT_EQ(espalier_scatterv(comm, is_root ? from_all.data() : nullptr, is_root ? sizes.data() : nullptr,
                              is_root ? offsets.data() : nullptr, part.data(), part.size(), root),
            ESPALIER_OK);
  EXPECT_EQ(part, mine);
}

void check_partial_reductions(espalier_comm* comm, std::size_t count) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm);
  const auto ranks = static_cast<std::size_t>(n);
  std::vector<std::int64_t> send(count * ranks), part(count, -1), prefix(count * ranks, -1);
  for (std::size_t i = 0; i < send.size(); ++i) send[i] = me + static_cast<std::int64_t>(i);
  const auto expect_sum = [&](const std::vector<std::int64_t>& got, int first_rank, int last_rank,
                              std::size_t begin) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::int64_t sum = 0;
      for (int r = first_rank; r <= last_rank; ++r) sum += r + static_cast<std::int64_t>(begin + i);
      ASSERT_EQ(got[i], sum) << i << " of " << got.size();
    }
  };
  ASSERT_EQ(
      espalier_reduce_scatter_block(comm, send.data(), part.data(), count, ESPALIER_INT64, ESPALIER_SUM),
      ESPALIER_OK);
  expect_sum(part, 0, n - 1, static_cast<std::size_t>(me) * count);
  std::vector<std::size_t> counts(ranks, 0);
  counts[ranks - 1] = count;
  part.assign(me == n - 1 ? count : 0, -1);
  ASSERT_EQ(
      espalier_reduce_scatter(comm, send.data(), part.data(), counts.data(), ESPALIER_INT64, ESPALIER_SUM),
      ESPALIER_OK);
  expect_sum(part, 0, n - 1, 0);
  ASSERT_EQ(espalier_scan(comm, send.data(), prefix.data(), prefix.size(), ESPALIER_INT64, ESPALIER_SUM),
            ESPALIER_OK);
  expect_sum(prefix, 0, me, 0);
  ASSERT_EQ(espalier_exscan(comm, send.data(), me == 0 ? nullptr : prefix.data(), prefix.size(),
                            ESPALIER_INT64, ESPALIER_SUM),
            ESPALIER_OK);
  if (me > 0) expect_sum(prefix, 0, me - 1, 0);
}

TEST(Meet, BlocksAndPartialReductionsAreRight) {
  for (const int ranks : {1, 2, 5})
    run_ranks(ranks, [&](int rank) {
      const Met met(own_name("blocks"), rank, ranks);
      for (const std::size_t bytes : {0, 1, 20, 5000, 70000}) {
        check_blocks(met.comm, bytes);
        check_unequal_blocks(met.comm, bytes);
        check_partial_reductions(met.comm, bytes);
      }
    });
}

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
      EXPECT_EQ(code, ESPALIER_ERR_SYSTEM);
      EXPECT_TRUE(error_has("a rank is gone")) << espalier_error_text();
    }
    EXPECT_EQ(comm, nullptr);
  });
}

TEST(Meet, NobodyThereIsATimeout) {
  run_ranks(1, [&](int) {
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_meet(own_name("nobody").c_str(), 1, 2, 50, &comm), ESPALIER_ERR_TIMEOUT);
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

TEST(Calls, MistakesAreErrorsWithTextAndDoNothing) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("mistakes"), rank, 2);
    double send = 1, receive = -1;
    EXPECT_EQ(espalier_barrier(nullptr), ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("NULL")) << espalier_error_text();
    EXPECT_EQ(espalier_bcast(nullptr, &send, 8, 0), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_bcast(met.comm, &send, 8, 2), ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("root 2: the ranks are 0 to 1")) << espalier_error_text();
    EXPECT_EQ(espalier_bcast(met.comm, &send, 8, -1), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_bcast(met.comm, nullptr, 8, 0), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_reduce(met.comm, &send, &receive, 1, ESPALIER_DOUBLE, ESPALIER_SUM, 7),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_allreduce(met.comm, &send, nullptr, 1, ESPALIER_DOUBLE, ESPALIER_SUM),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("receive is NULL")) << espalier_error_text();
    EXPECT_EQ(espalier_allreduce(met.comm, nullptr, &receive, 1, ESPALIER_DOUBLE, ESPALIER_SUM),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_allreduce(met.comm, &send, &receive, 1, ESPALIER_DOUBLE, ESPALIER_BAND),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("not defined on")) << espalier_error_text();
    EXPECT_EQ(espalier_allreduce(met.comm, &send, &receive, 1, ESPALIER_DOUBLE, ESPALIER_MAXLOC),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_allreduce(met.comm, &send, &receive, 1, static_cast<espalier_type>(99), ESPALIER_SUM),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("99 is no espalier_type")) << espalier_error_text();
    EXPECT_EQ(espalier_allreduce(met.comm, &send, &receive, 1, ESPALIER_DOUBLE, static_cast<espalier_op>(50)),
              ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(receive, -1);
    // And the communicator is as good as before.
    ASSERT_EQ(espalier_allreduce(met.comm, &send, &receive, 1, ESPALIER_DOUBLE, ESPALIER_SUM), ESPALIER_OK);
    EXPECT_EQ(receive, 2);
    EXPECT_STREQ(espalier_error_text(), "") << "a good call has no error";
    EXPECT_EQ(espalier_comm_rank(nullptr), -1);
    EXPECT_EQ(espalier_comm_size(nullptr), -1);
  });
}

TEST(Calls, MistakesWithBlocksAreErrorsToo) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("block-mistakes"), rank, 2);
    char send[16] = {}, receive[16];
    const std::size_t bytes[2] = {8, 8}, offsets[2] = {0, 8};
    const int wrong = ESPALIER_ERR_ARGUMENT;
    EXPECT_EQ(espalier_allgather(nullptr, send, receive, 8), wrong);
    EXPECT_EQ(espalier_allgather(met.comm, nullptr, receive, 8), wrong);
    EXPECT_TRUE(error_has("send is NULL")) << espalier_error_text();
    EXPECT_EQ(espalier_allgatherv(met.comm, send, receive, nullptr, offsets), wrong);
    EXPECT_TRUE(error_has("arrays of bytes and offsets")) << espalier_error_text();
    EXPECT_EQ(espalier_allgatherv(met.comm, send, nullptr, bytes, offsets), wrong);
    EXPECT_EQ(espalier_gather(met.comm, send, receive, 8, 2), wrong);
    EXPECT_EQ(espalier_gatherv(met.comm, send, 8, receive, nullptr, nullptr, rank), wrong);
    EXPECT_EQ(espalier_scatter(met.comm, nullptr, receive, 8, rank), wrong);
    EXPECT_EQ(espalier_scatter(met.comm, send, nullptr, 8, rank), wrong);
    EXPECT_EQ(espalier_scatterv(met.comm, send, bytes, nullptr, receive, 8, rank), wrong);
    EXPECT_EQ(espalier_alltoall(met.comm, send, nullptr, 8), wrong);
    EXPECT_EQ(espalier_alltoallv(met.comm, send, bytes, nullptr, receive, bytes, offsets), wrong);
    EXPECT_EQ(espalier_reduce_scatter(met.comm, send, receive, nullptr, ESPALIER_INT64, ESPALIER_SUM), wrong);
    EXPECT_TRUE(error_has("counts is NULL")) << espalier_error_text();
    EXPECT_EQ(espalier_reduce_scatter_block(met.comm, send, receive, 1, ESPALIER_DOUBLE, ESPALIER_BAND),
              wrong);
    EXPECT_EQ(espalier_scan(met.comm, send, nullptr, 1, ESPALIER_INT64, ESPALIER_SUM), wrong);
    EXPECT_EQ(espalier_exscan(met.comm, nullptr, receive, 1, ESPALIER_INT64, ESPALIER_SUM), wrong);
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_OK) << "the communicator is as good as before";
  });
}

TEST(Calls, NullIsFineForNothing) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("nothing"), rank, 2);
    EXPECT_EQ(espalier_bcast(met.comm, nullptr, 0, 1), ESPALIER_OK);
    EXPECT_EQ(espalier_allreduce(met.comm, nullptr, nullptr, 0, ESPALIER_INT32, ESPALIER_MAX), ESPALIER_OK);
    EXPECT_EQ(espalier_reduce(met.comm, nullptr, nullptr, 0, ESPALIER_INT32, ESPALIER_MAX, 0), ESPALIER_OK);
    const std::size_t none[2] = {0, 0};
    EXPECT_EQ(espalier_allgather(met.comm, nullptr, nullptr, 0), ESPALIER_OK);
    EXPECT_EQ(espalier_allgatherv(met.comm, nullptr, nullptr, none, none), ESPALIER_OK);
    EXPECT_EQ(espalier_gather(met.comm, nullptr, nullptr, 0, 1), ESPALIER_OK);
    EXPECT_EQ(espalier_gatherv(met.comm, nullptr, 0, nullptr, none, none, 1), ESPALIER_OK);
    EXPECT_EQ(espalier_scatter(met.comm, nullptr, nullptr, 0, 1), ESPALIER_OK);
    EXPECT_EQ(espalier_scatterv(met.comm, nullptr, none, none, nullptr, 0, 1), ESPALIER_OK);
    EXPECT_EQ(espalier_alltoall(met.comm, nullptr, nullptr, 0), ESPALIER_OK);
    EXPECT_EQ(espalier_alltoallv(met.comm, nullptr, none, none, nullptr, none, none), ESPALIER_OK);
    EXPECT_EQ(espalier_reduce_scatter_block(met.comm, nullptr, nullptr, 0, ESPALIER_INT32, ESPALIER_MAX),
              ESPALIER_OK);
    EXPECT_EQ(espalier_reduce_scatter(met.comm, nullptr, nullptr, none, ESPALIER_INT32, ESPALIER_MAX),
              ESPALIER_OK);
    EXPECT_EQ(espalier_scan(met.comm, nullptr, nullptr, 0, ESPALIER_INT32, ESPALIER_MAX), ESPALIER_OK);
    EXPECT_EQ(espalier_exscan(met.comm, nullptr, nullptr, 0, ESPALIER_INT32, ESPALIER_MAX), ESPALIER_OK);
  });
}

TEST(Calls, RuleThatNeedsAHostIsRefused) {
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_BCAST", "host", 1);
    const Met met(own_name("host"), rank, 2);
    int value = rank;
    EXPECT_EQ(espalier_bcast(met.comm, &value, sizeof value, 0), ESPALIER_ERR_REFUSED);
    EXPECT_TRUE(error_has("there is none")) << espalier_error_text();
    EXPECT_EQ(value, rank);
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_OK);
  });
}

template <class T>
void expect_allreduce(espalier_comm* comm, espalier_type type, espalier_op op, T mine, T wanted) {
  T result{};
  ASSERT_EQ(espalier_allreduce(comm, &mine, &result, 1, type, op), ESPALIER_OK) << espalier_error_text();
  EXPECT_EQ(result, wanted) << "type " << type << ", op " << op;
}

struct DoubleInt {
  double value;
  int index;
  bool operator==(const DoubleInt& other) const { return value == other.value && index == other.index; }
};
std::ostream& operator<<(std::ostream& out, const DoubleInt& d) {
  return out << d.value << " at " << d.index;
}

TEST(Calls, TypesAndOperatorsAreWhatTheirNamesSay) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("types"), rank, 3);
    espalier_comm* c = met.comm;
    expect_allreduce<std::int8_t>(c, ESPALIER_INT8, ESPALIER_MIN, static_cast<std::int8_t>(-rank), -2);
    expect_allreduce<std::int16_t>(c, ESPALIER_INT16, ESPALIER_MAX, static_cast<std::int16_t>(-300 * rank),
                                   0);
    expect_allreduce<std::int32_t>(c, ESPALIER_INT32, ESPALIER_PROD, rank + 70000,
                                   static_cast<std::int32_t>(70000ll * 70001 * 70002));
    expect_allreduce<std::int64_t>(c, ESPALIER_INT64, ESPALIER_SUM, (std::int64_t{1} << 40) * (rank + 1),
                                   std::int64_t{6} << 40);
    expect_allreduce<std::uint8_t>(c, ESPALIER_UINT8, ESPALIER_MAX, static_cast<std::uint8_t>(200 + rank),
                                   202);
    expect_allreduce<std::uint16_t>(c, ESPALIER_UINT16, ESPALIER_BAND,
                                    static_cast<std::uint16_t>(0xfff0 | rank), 0xfff0);
    expect_allreduce<std::uint32_t>(c, ESPALIER_UINT32, ESPALIER_BOR, 1u << (30 + rank % 2), 3u << 30);
    expect_allreduce<std::uint64_t>(c, ESPALIER_UINT64, ESPALIER_BXOR, std::uint64_t{1} << (60 + rank),
                                    std::uint64_t{7} << 60);
    expect_allreduce<float>(c, ESPALIER_FLOAT, ESPALIER_SUM, 0.5f * static_cast<float>(rank), 1.5f);
    expect_allreduce<long double>(c, ESPALIER_LONG_DOUBLE, ESPALIER_MAX, 1e4000L * rank, 2e4000L);
    expect_allreduce<std::complex<float>>(c, ESPALIER_FLOAT_COMPLEX, ESPALIER_SUM,
                                          {1.0f, static_cast<float>(rank)}, {3.0f, 3.0f});
    expect_allreduce<std::complex<double>>(c, ESPALIER_DOUBLE_COMPLEX, ESPALIER_PROD, {0, 1}, {0, -1});
    expect_allreduce<bool>(c, ESPALIER_BOOL, ESPALIER_LAND, rank != 1, false);
    expect_allreduce<bool>(c, ESPALIER_BOOL, ESPALIER_LOR, rank == 1, true);
    expect_allreduce<int>(c, ESPALIER_INT32, ESPALIER_LXOR, rank + 1, 1);
    expect_allreduce<DoubleInt>(c, ESPALIER_DOUBLE_INT, ESPALIER_MAXLOC, {rank == 0 ? 1.0 : 5.0, rank},
                                {5.0, 1});
    expect_allreduce<DoubleInt>(c, ESPALIER_DOUBLE_INT, ESPALIER_MINLOC, {rank == 0 ? 9.0 : 5.0, 10 - rank},
                                {5.0, 8});
  });
}

}  // namespace
