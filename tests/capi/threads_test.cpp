// Threads of a process that use the C API at the same time, each on communicators, levels and windows of its own.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "espalier/describe.h"
#include "espalier/espalier_exact.h"
#include "espalier/espalier_window.h"
#include "tests/capi/levels.hpp"
#include "tests/levels/stranger.h"

namespace threads_of_a_rank {

using espalier::testing::check_collectives;
using espalier::testing::error_has;
using espalier::testing::MadeLevels;
using espalier::testing::Met;
using espalier::testing::own_name;
using espalier::testing::run_ranks;

constexpr int ranks = 2, threads = 3, rounds = 4;

/// What one thread of a rank does on one communicator; `salt` is another for each thread and round.
struct Part {
  espalier_comm* comm;
  int rank, salt;

  void calls() const { check_collectives(comm); }

  void levels() const {
    const MadeLevels made(comm);
    for (int step = 0; step < 20; ++step) {
      auto value = static_cast<std::uint64_t>(rank + salt + step);
      ASSERT_EQ(stranger_max(made.get(), &value), ESPALIER_OK) << espalier_error_text();
      ASSERT_EQ(value, static_cast<std::uint64_t>(ranks - 1 + salt + step));
    }
  }

  void window() const {
    espalier_window* window = nullptr;
    ASSERT_EQ(espalier_window_create(comm, 4096, ranks, &window), ESPALIER_OK) << espalier_error_text();
    for (std::uint32_t step = 1; step <= 20; ++step) {
      const auto mine = static_cast<std::uint32_t>(salt + rank) * 100 + step;
      const int other = 1 - rank;
      ASSERT_EQ(espalier_window_put_notify(window, 0, static_cast<std::size_t>(other) * 64, &mine,
                                           sizeof mine, other, step),
                ESPALIER_OK);
      int id = -1;
      ASSERT_EQ(espalier_window_notify_waitsome(window, rank, 1, 20000, &id), ESPALIER_OK);
      std::uint32_t told = 0, value = 0;
      ASSERT_EQ(espalier_window_notify_reset(window, id, &told), ESPALIER_OK);
      EXPECT_EQ(told, step);
      ASSERT_EQ(espalier_window_get(window, 0, static_cast<std::size_t>(rank) * 64, &value, sizeof value),
                ESPALIER_OK);
      ASSERT_EQ(espalier_window_flush(window), ESPALIER_OK);
      EXPECT_EQ(value, static_cast<std::uint32_t>(salt + other) * 100 + step);
      ASSERT_EQ(espalier_barrier(comm), ESPALIER_OK);  // both have read before either writes again
    }
    EXPECT_EQ(espalier_window_free(window), ESPALIER_OK);
  }

  void joined_blocks() const {
    const std::array<std::size_t, ranks> bytes = {3000, 70000};
    std::array<std::size_t, ranks> offsets{};
    for (int step = 0; step < 5; ++step) {
      const std::vector<unsigned char> own(bytes[static_cast<std::size_t>(rank)],
                                           static_cast<unsigned char>(rank + salt + step));
      const void* whole = nullptr;
      ASSERT_EQ(espalier_allgatherv_lent(comm, own.data(), bytes.data(), &whole, offsets.data()),
                ESPALIER_OK);
      for (std::size_t r = 0; r < ranks; ++r) {
        const auto* block = static_cast<const unsigned char*>(whole) + offsets[r];
        EXPECT_EQ(std::vector<unsigned char>(block, block + bytes[r]),
                  std::vector<unsigned char>(bytes[r],
                                             static_cast<unsigned char>(static_cast<int>(r) + salt + step)));
      }
    }
  }

  void exact_sum() const {
    const double values[] = {1e300, 1.0 + salt, -1e300};
    double sum = 0;
    ASSERT_EQ(espalier_exact_sum(comm, values, 3, ESPALIER_DOUBLE, &sum), ESPALIER_OK);
    EXPECT_EQ(sum, ranks * (1.0 + salt));
  }

  /// The text is of this thread, whatever others have failed at since.
  void mistake(std::barrier<>& all) const {
    std::uint64_t value = 0;
    EXPECT_EQ(espalier_bcast(comm, &value, sizeof value, 1000 + salt), ESPALIER_ERR_ARGUMENT);
    all.arrive_and_wait();
    EXPECT_TRUE(error_has(std::to_string(1000 + salt))) << espalier_error_text();
    all.arrive_and_wait();
  }

  void question() const {
    char* answer = espalier_describe(R"({"ask": "nothing that there is"})");
    EXPECT_NE(std::string(answer).find("error"), std::string::npos);
    espalier_free(answer);
  }
};

/// All kinds, each thread beginning with another; communicators come and go while others are in use.
void do_everything(int rank, int thread, std::barrier<>& all) {
  for (int round = 0; round < rounds; ++round) {
    const Met met(own_name("everything") + std::to_string(thread) + "-" + std::to_string(round), rank, ranks);
    if (!met.comm) return all.arrive_and_drop();
    const Part part{met.comm, rank, thread * 10 + round};
    constexpr void (Part::* kinds[])() const = {&Part::calls,         &Part::levels,    &Part::window,
                                                &Part::joined_blocks, &Part::exact_sum, &Part::question};
    for (std::size_t i = 0; i < std::size(kinds); ++i)
      (part.*kinds[(i + static_cast<std::size_t>(thread) * 2) % std::size(kinds)])();
    part.mistake(all);
  }
}

void run_threads(int rank) {
  std::barrier all(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([rank, thread, &all] { do_everything(rank, thread, all); });
  for (std::thread& each : running) each.join();
}

TEST(ThreadsOfARank, DoAllThereIsAtTheSameTime) { run_ranks(ranks, run_threads); }

// Statistics and the record of last calls are one of a process.
TEST(ThreadsOfARank, AreCountedAndRecorded) {
  run_ranks(ranks, [](int rank) {
    setenv("ESPALIER_STATS_ARRIVALS", "on", 1);
    setenv("ESPALIER_STATS_SITES", "3", 1);
    run_threads(rank);
  });
}

// Where each thread waits asleep, and where all data go through slots.
TEST(ThreadsOfARank, DoSoAsleepAndThroughSlots) {
  run_ranks(ranks, [](int rank) {
    setenv("ESPALIER_WAIT", "sleep", 1);
    setenv("ESPALIER_SINGLE_COPY", "off", 1);
    run_threads(rank);
  });
}

}  // namespace threads_of_a_rank
