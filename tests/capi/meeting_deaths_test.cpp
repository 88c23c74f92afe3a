// Ranks that die, or say nothing, in a meeting: all survivors hear which it was, long before the time is over.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>

#include "espalier/espalier.h"
#include "tests/capi/met.hpp"
#include "tests/capi/strangers.hpp"

namespace {

using namespace espalier::testing;

// Where the fault is back the ranks wait for all of it, and the alarm of fork_child() ends them.
constexpr int long_ms = 600'000;

void expect_gone(const std::string& name, int rank, int size, int victim) {
  espalier_comm* comm = nullptr;
  EXPECT_EQ(espalier_comm_meet(name.c_str(), rank, size, long_ms, &comm), ESPALIER_ERR_SYSTEM);
  EXPECT_TRUE(error_has("rank " + std::to_string(victim) + " is gone")) << espalier_error_text();
}

// `size` 4: rank 3 never comes, so the others still wait; 3: all have come, and have begun to agree.
class MeetDeaths : public ::testing::TestWithParam<int> {};

TEST_P(MeetDeaths, OfARankAreNamedToAllOthers) {
  const std::string name = own_name("death");
  run_ranks(3, [&](int rank) {
    if (rank < 2) return expect_gone(name, rank, GetParam(), 2);
    const int socket = greet(name, 2, GetParam());
    await_ranks(name, 2);
    close(socket);
  });
}

TEST_P(MeetDeaths, OfRankZeroAreNamedToAllOthers) {
  const std::string name = own_name("death-of-0");
  Job job(3, [&](int rank) {
    if (rank > 0) return expect_gone(name, rank, GetParam() + 1, 0);
    espalier_comm* comm = nullptr;
    espalier_comm_meet(name.c_str(), 0, GetParam() + 1, long_ms, &comm);
  });
  await_ranks(name, 2);
  job.expect_success_without(0);
}

INSTANTIATE_TEST_SUITE_P(Before, MeetDeaths, ::testing::Values(3, 4));

TEST(MeetSilence, IsATimeoutThatNamesTheRankToAll) {
  const std::string name = own_name("silence");
  run_ranks(3, [&](int rank) {
    if (rank == 2) {
      const int socket = greet(name, 2, 3);
      char byte;
      while (recv(socket, &byte, 1, 0) > 0) continue;  // as if it were stopped
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_meet(name.c_str(), rank, 3, 3000, &comm), ESPALIER_ERR_TIMEOUT);
    EXPECT_TRUE(error_has("rank 2 did not answer")) << espalier_error_text();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  });
}

// The time is for all ranks together: one after the other they would have come in time.
TEST(MeetSilence, TheTimeIsATotal) {
  const std::string name = own_name("total");
  run_ranks(5, [&](int rank) {
    if (rank > 0) {
      usleep(800'000 * static_cast<unsigned>(rank));
      espalier_comm* comm = nullptr;
      espalier_comm_meet(name.c_str(), rank, 5, 1000, &comm);
      return;
    }
    espalier_comm* comm = nullptr;
    EXPECT_NE(espalier_comm_meet(name.c_str(), 0, 5, 1000, &comm), ESPALIER_OK);
  });
}

TEST(MeetFrames, ThatAreGarbageAreAnErrorForAll) {
  const std::string name = own_name("garbage-frame");
  run_ranks(3, [&](int rank) {
    if (rank == 2) {
      const int socket = greet(name, 2, 3);
      const std::string garbage(4096, '\xff');
      EXPECT_EQ(send(socket, garbage.data(), garbage.size(), MSG_NOSIGNAL), 4096);
      char byte;
      while (recv(socket, &byte, 1, 0) > 0) continue;
      return;
    }
    espalier_comm* comm = nullptr;
    EXPECT_EQ(espalier_comm_meet(name.c_str(), rank, 3, long_ms, &comm), ESPALIER_ERR_SYSTEM);
    EXPECT_TRUE(error_has("rank 2 said something")) << espalier_error_text();
  });
}

TEST(MeetFrames, OfAFalseRankZeroAreAnError) {
  const std::string name = own_name("garbage-answer");
  run_ranks(2, [&](int rank) {
    if (rank == 1) {
      espalier_comm* comm = nullptr;
      EXPECT_EQ(espalier_comm_meet(name.c_str(), 1, 2, long_ms, &comm), ESPALIER_ERR_SYSTEM);
      EXPECT_TRUE(error_has("rank 0 said something")) << espalier_error_text();
      return;
    }
    const int listener = take_name(geteuid(), name, true);
    const int socket = accept(listener, nullptr, nullptr);
    const std::string garbage(4096, '\xff');
    EXPECT_EQ(send(socket, garbage.data(), garbage.size(), MSG_NOSIGNAL), 4096);
    char byte;
    while (recv(socket, &byte, 1, 0) > 0) continue;
  });
}

}  // namespace
