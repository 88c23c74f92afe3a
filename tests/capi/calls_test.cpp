// Mistakes in calls of the C API, and its types and operators.
#include "espalier/espalier.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/capi/met.hpp"

namespace {

using espalier::testing::error_has;
using espalier::testing::Met;
using espalier::testing::own_name;
using espalier::testing::run_ranks;

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

TEST(Calls, RanksThatCallSomethingElseAreNamed) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("something-else"), rank, 2), other(own_name("right"), rank, 2);
    double send[2] = {1, 1}, receive[2];
    ASSERT_EQ(espalier_barrier(met.comm), ESPALIER_OK);
    EXPECT_EQ(espalier_allreduce(met.comm, send, receive, rank ? 2 : 1, ESPALIER_DOUBLE, ESPALIER_SUM),
              ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("allreduce of 16 bytes") && error_has("allreduce of 8 bytes"))
        << espalier_error_text();
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("out of step")) << espalier_error_text();
    EXPECT_EQ(espalier_barrier(other.comm), ESPALIER_OK);
  });
}

TEST(Calls, ARankThatComesTooLateIsNamed) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("late"), rank, 3), other(own_name("in-time"), rank, 3);
    EXPECT_EQ(espalier_comm_set_timeout(nullptr, 1), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_set_timeout(met.comm, -1), ESPALIER_ERR_ARGUMENT);
    ASSERT_EQ(espalier_barrier(met.comm), ESPALIER_OK);
    ASSERT_EQ(espalier_comm_set_timeout(met.comm, 1000), ESPALIER_OK) << espalier_error_text();
    if (rank == 1) usleep(4'000'000);
    const int code = espalier_barrier(met.comm);
    if (rank == 1) {  // all others have come: it needs to wait for none, and may hear of it in its next call
      EXPECT_TRUE(code == ESPALIER_OK || code == ESPALIER_ERR_PEERS) << espalier_error_text();
    } else {
      EXPECT_TRUE(code == ESPALIER_ERR_TIMEOUT || code == ESPALIER_ERR_PEERS);
      EXPECT_TRUE(error_has("have not come: 1") && error_has("1000 ms")) << espalier_error_text();
    }
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("have not come: 1")) << espalier_error_text();
    EXPECT_EQ(espalier_barrier(other.comm), ESPALIER_OK) << "others go on";
  });
}

TEST(Calls, NoTimeoutWaitsForALateRank) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("unlimited"), rank, 2);
    ASSERT_EQ(espalier_comm_set_timeout(met.comm, 300), ESPALIER_OK);
    ASSERT_EQ(espalier_comm_set_timeout(met.comm, 0), ESPALIER_OK);
    if (rank == 1) usleep(900'000);
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_OK) << espalier_error_text();
  });
}

TEST(Calls, RanksMaySleepWhereTheyWait) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("background"), rank, 3);
    EXPECT_EQ(espalier_comm_set_background(nullptr, 1), ESPALIER_ERR_ARGUMENT);
    for (int turn = 0; turn < 60; ++turn) {  // each rank in turns of its own: the choice is local
      ASSERT_EQ(espalier_comm_set_background(met.comm, (turn / (rank + 1)) % 2), ESPALIER_OK)
          << espalier_error_text();
      if (rank == turn % 3) usleep(300);
      const std::vector<double> send(turn % 2 ? 40000 : 3, rank + turn);
      std::vector<double> receive(send.size());
      ASSERT_EQ(espalier_allreduce(met.comm, send.data(), receive.data(), send.size(), ESPALIER_DOUBLE,
                                   ESPALIER_SUM),
                ESPALIER_OK)
          << espalier_error_text();
      EXPECT_EQ(receive, std::vector<double>(send.size(), 3 * turn + 3));
    }
  });
}

TEST(Calls, LabelsAreComparedAndNamed) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("labels"), rank, 3);
    const char* names[] = {"apples", nullptr, "pears"};
    ASSERT_EQ(espalier_comm_name_labels(met.comm, names, 3), ESPALIER_OK);
    EXPECT_EQ(espalier_comm_name_labels(met.comm, names, ESPALIER_MOST_LABEL + 1), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_name_labels(met.comm, nullptr, 1), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_set_label(met.comm, ESPALIER_MOST_LABEL + 1), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_set_label(met.comm, -1), ESPALIER_ERR_ARGUMENT);
    EXPECT_EQ(espalier_comm_set_label(nullptr, 1), ESPALIER_ERR_ARGUMENT);
    std::uint64_t data[4] = {};
    for (int turn = 0; turn < 200; ++turn) {  // all alike, with and without
      ASSERT_EQ(espalier_comm_set_label(met.comm, turn * 37 % (ESPALIER_MOST_LABEL + 1)), ESPALIER_OK);
      ASSERT_EQ(espalier_bcast(met.comm, data, sizeof data, turn % 3), ESPALIER_OK) << espalier_error_text();
      ASSERT_EQ(espalier_barrier(met.comm), ESPALIER_OK) << espalier_error_text();
    }
    ASSERT_EQ(espalier_comm_set_label(met.comm, rank == 1 ? 3 : 1), ESPALIER_OK);
    EXPECT_EQ(espalier_allreduce(met.comm, ESPALIER_IN_PLACE, data, 4, ESPALIER_UINT64,
                                 rank == 1 ? ESPALIER_MAX : ESPALIER_SUM),
              ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("allreduce of 32 bytes as")) << espalier_error_text();
    EXPECT_TRUE(error_has("as apples") && error_has("as pears")) << espalier_error_text();
    EXPECT_FALSE(error_has(" by ")) << "labels say more than operators: " << espalier_error_text();
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_ERR_PEERS);
  });
}

TEST(Calls, ALabelAndNoneDiffer) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("one_labels"), rank, 2);
    std::uint64_t data = 0;
    ASSERT_EQ(espalier_bcast(met.comm, &data, 8, 0), ESPALIER_OK);
    ASSERT_EQ(espalier_comm_set_label(met.comm, rank == 1 ? 5 : 0), ESPALIER_OK);
    EXPECT_EQ(espalier_barrier(met.comm), ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("as unlabelled") && error_has("as label 5")) << espalier_error_text();
  });
}

TEST(Calls, NarrowFloatsAreFoldedInFloat) {
  run_ranks(4, [&](int rank) {
    const Met met(own_name("narrow"), rank, 4);
    // 256 + 1 + 1 + 1 = 259, which bfloat16 rounds to 260; adding one by one would stay at 256.
    const std::uint16_t brain = rank == 0 ? 0x4380 : 0x3f80, half = rank == 0 ? 0x6800 : 0x3c00;
    std::uint16_t result = 0;
    ASSERT_EQ(espalier_reduce_scatter_block(met.comm, std::vector(4, brain).data(), &result, 1,
                                            ESPALIER_BFLOAT16, ESPALIER_SUM),
              ESPALIER_OK);
    EXPECT_EQ(result, 0x4382);
    for (const std::size_t count : {1, 20, 5000}) {
      const std::vector<std::uint16_t> send(count, half);
      std::vector<std::uint16_t> receive(count);
      ASSERT_EQ(
          espalier_allreduce(met.comm, send.data(), receive.data(), count, ESPALIER_FLOAT16, ESPALIER_MAX),
          ESPALIER_OK);
      EXPECT_EQ(receive, std::vector<std::uint16_t>(count, 0x6800));
    }
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
    constexpr long double large = std::numeric_limits<long double>::max() / 4;  // mostly beyond a double
    expect_allreduce<long double>(c, ESPALIER_LONG_DOUBLE, ESPALIER_MAX, large * rank, large * 2);
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
