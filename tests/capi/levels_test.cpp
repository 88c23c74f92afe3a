// Base cases through the library and its headers alone: the examples on many trees, and views of groups.
#include "espalier/espalier_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "examples/levels/levels.h"
#include "tests/capi/levels.hpp"
#include "tests/levels/stranger.h"

namespace {

using espalier::testing::error_has;
using espalier::testing::MadeLevels;
using espalier::testing::Met;
using espalier::testing::own_name;
using espalier::testing::run_ranks;

TEST(Levels, AStrangersBaseCaseRunsOnFiveRanks) {
  run_ranks(5, [&](int rank) {
    const Met met(own_name("stranger"), rank, 5);
    const MadeLevels levels(met.comm);
    for (std::uint64_t round = 1; round <= 1000; ++round) {
      std::uint64_t value = static_cast<std::uint64_t>((rank * 3) % 5) * round;
      ASSERT_EQ(stranger_max(levels.get(), &value), ESPALIER_OK) << espalier_error_text();
      ASSERT_EQ(value, 4 * round);
    }
  });
}

// The header's inline functions have no address: what is called through a pointer is the library's. Both speak of the same
// words, and wake each other.
TEST(Levels, TheLibrarysFunctionsAndTheHeadersAgree) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("pointers"), rank, 2);
    const MadeLevels levels(met.comm);
    espalier_group_view view;
    ASSERT_EQ(espalier_levels_group(levels.get(), 0, &view), ESPALIER_OK);
    ASSERT_NE(view.waits, nullptr);
    const auto store = &espalier_group_store;
    const auto load = &espalier_group_load;
    const auto wait = &espalier_group_wait_until;
    const auto put = &espalier_group_put;
    const auto get = &espalier_group_get;
    const std::size_t mine = espalier_group_part(&view, view.rank),
                      other = espalier_group_part(&view, 1 - view.rank);
    for (std::uint64_t round = 1; round <= 500; ++round) {
      const std::uint64_t sent = round * 10 + static_cast<std::uint64_t>(rank);
      std::uint64_t got = 0, seen = 0;
      if (round % 2 == static_cast<std::uint64_t>(rank)) {
        ASSERT_EQ(put(&view, mine + 8, &sent, sizeof sent), ESPALIER_OK);
        ASSERT_EQ(store(&view, mine, round), ESPALIER_OK);
        ASSERT_EQ(wait(&view, other, ESPALIER_UNTIL_AT_LEAST, round), ESPALIER_OK);
        ASSERT_EQ(get(&view, other + 8, &got, sizeof got), ESPALIER_OK);
        ASSERT_EQ(load(&view, other, &seen), ESPALIER_OK);
      } else {
        ASSERT_EQ(espalier_group_put(&view, mine + 8, &sent, sizeof sent), ESPALIER_OK);
        ASSERT_EQ(espalier_group_store(&view, mine, round), ESPALIER_OK);
        ASSERT_EQ(espalier_group_wait_until(&view, other, ESPALIER_UNTIL_AT_LEAST, round), ESPALIER_OK);
        ASSERT_EQ(espalier_group_get(&view, other + 8, &got, sizeof got), ESPALIER_OK);
        ASSERT_EQ(espalier_group_load(&view, other, &seen), ESPALIER_OK);
      }
      ASSERT_EQ(got / 10, round);
      ASSERT_EQ(seen, round);
      // Both have read before either writes again.
      ASSERT_EQ(espalier_group_store(&view, mine + 64, round), ESPALIER_OK);
      ASSERT_EQ(wait(&view, other + 64, ESPALIER_UNTIL_EQUAL, round), ESPALIER_OK);
    }
    EXPECT_EQ(espalier_group_wake(&view), ESPALIER_OK);
    EXPECT_EQ(espalier_group_wake(nullptr), ESPALIER_ERR_ARGUMENT);
  });
}

// By the header and by the library, at places on and off the lines of caches; what lies around them stays.
TEST(Levels, DataOfAnyLengthLieWhereTheyWerePut) {
  run_ranks(2, [&](int rank) {
    const Met met(own_name("lengths"), rank, 2);
    espalier_levels_options options{};
    options.member_bytes = 1 << 16;
    const MadeLevels levels(met.comm, &options);
    espalier_group_view view;
    ASSERT_EQ(espalier_levels_group(levels.get(), 0, &view), ESPALIER_OK);
    const auto library_put = &espalier_group_put;
    const std::size_t mine = espalier_group_part(&view, rank), other = espalier_group_part(&view, 1 - rank);
    std::uint64_t round = 0;
    for (const std::size_t bytes : {1, 63, 64, 65, 1000, 4095, 4096, 4097, 20000})
      for (const std::size_t at : {64, 67})
        for (const bool inlined : {true, false}) {
          ++round;
          const auto value = [&](int of, std::size_t i) {
            return static_cast<unsigned char>(i * 7 + round + static_cast<std::size_t>(of));
          };
          std::vector<unsigned char> given(bytes + 2), got(bytes + 2);
          for (std::size_t i = 0; i < given.size(); ++i) given[i] = value(rank, i);
          ASSERT_EQ(espalier_group_put(&view, mine + at - 1, given.data(), 1), ESPALIER_OK);
          ASSERT_EQ(espalier_group_put(&view, mine + at + bytes, &given[bytes + 1], 1), ESPALIER_OK);
          ASSERT_EQ(inlined ? espalier_group_put(&view, mine + at, &given[1], bytes)
                            : library_put(&view, mine + at, &given[1], bytes),
                    ESPALIER_OK);
          ASSERT_EQ(espalier_group_store(&view, mine, round), ESPALIER_OK);
          ASSERT_EQ(espalier_group_wait_until(&view, other, ESPALIER_UNTIL_EQUAL, round), ESPALIER_OK);
          ASSERT_EQ(espalier_group_get(&view, other + at - 1, got.data(), got.size()), ESPALIER_OK);
          for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(got[i], value(1 - rank, i)) << "byte " << i << " of " << bytes;
          // Both have read before either writes again.
          ASSERT_EQ(espalier_group_store(&view, mine + 8, round), ESPALIER_OK);
          ASSERT_EQ(espalier_group_wait_until(&view, other + 8, ESPALIER_UNTIL_EQUAL, round), ESPALIER_OK);
        }
    const std::vector<char> too_long(4096);
    EXPECT_EQ(espalier_group_put(&view, view.bytes - 4095, too_long.data(), 4096), ESPALIER_ERR_ARGUMENT);
  });
}

void check_reduce(espalier_levels* levels, int rank, int ranks, int root, std::size_t count) {
  std::vector<double> values(count), sum(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = rank + static_cast<double>(i % 100);
    sum[i] = ranks * (ranks - 1) / 2.0 + ranks * static_cast<double>(i % 100);
  }
  std::vector<double> result(count);
  ASSERT_EQ(levels_reduce(levels, values.data(), result.data(), count), ESPALIER_OK) << espalier_error_text();
  if (rank == root) {
    EXPECT_EQ(result, sum);
  }
  ASSERT_EQ(levels_reduce(levels, values.data(), values.data(), count), ESPALIER_OK) << espalier_error_text();
  if (rank == root) {
    EXPECT_EQ(values, sum);
  }
}

void check_bcast(espalier_levels* levels, int rank, int root, std::size_t bytes) {
  std::vector<unsigned char> data(bytes), right(bytes);
  for (std::size_t i = 0; i < bytes; ++i) right[i] = static_cast<unsigned char>(i * 7 + bytes);
  if (rank == root) data = right;
  ASSERT_EQ(levels_bcast(levels, data.data(), bytes), ESPALIER_OK) << espalier_error_text();
  EXPECT_EQ(data, right);
}

// Of all values that the ranks have, sorted.
void check_top_k(espalier_levels* levels, int rank, int ranks, std::size_t k) {
  const auto value = [](int of, std::size_t i) {
    return static_cast<double>((of * 7919 + static_cast<int>(i) * 104729) % 1009);
  };
  std::vector<double> mine, all;
  for (int other = 0; other < ranks; ++other)
    for (std::size_t i = 0; i < k; ++i) {
      all.push_back(value(other, i));
      if (other == rank) mine.push_back(value(other, i));
    }
  std::sort(mine.rbegin(), mine.rend());
  std::sort(all.rbegin(), all.rend());
  all.resize(k);
  ASSERT_EQ(levels_top_k(levels, mine.data(), k), ESPALIER_OK) << espalier_error_text();
  EXPECT_EQ(mine, all);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// No rank leaves before the last has come, by the clock that all processes share; each rank is the last once.
void check_barrier(espalier_levels* levels, const Met& met, int rank, int ranks) {
  for (int round = 0; round < 2 * ranks; ++round) {
    if (rank == round % ranks) usleep(500);
    const double came = now();
    ASSERT_EQ(levels_barrier(levels), ESPALIER_OK) << espalier_error_text();
    const double left = now();
    double last_came = 0, first_left = 0;
    ASSERT_EQ(espalier_allreduce(met.comm, &came, &last_came, 1, ESPALIER_DOUBLE, ESPALIER_MAX), ESPALIER_OK);
    ASSERT_EQ(espalier_allreduce(met.comm, &left, &first_left, 1, ESPALIER_DOUBLE, ESPALIER_MIN),
              ESPALIER_OK);
    EXPECT_LE(last_came, first_left) << ranks << " ranks";
  }
}

/// Groups for so many ranks, besides the machine's: a chain, pairs, and one that leaves ranks to the top.
std::vector<std::string> trees_of(int ranks) {
  const auto number = [](int rank) { return std::to_string(rank); };
  std::string chain = number(ranks - 1), pairs, rest;
  for (int rank = ranks - 2; rank >= 0; --rank) chain = "(" + number(rank) + " " + chain + ")";
  for (int rank = 0; rank < ranks; rank += 2)
    pairs += "(" + number(rank) + (rank + 1 < ranks ? " " + number(rank + 1) : "") + ")";
  for (int rank = 1; rank < ranks; ++rank) rest += " " + number(rank);
  return {ranks > 1 ? chain : "(0)", "(" + pairs + ")", "((0)" + rest + ")"};
}

class OfRanks : public ::testing::TestWithParam<int> {};

TEST_P(OfRanks, TheExamplesAreRightOnEveryTree) {
  const int ranks = GetParam();
  run_ranks(ranks, [&](int rank) {
    const Met met(own_name("examples"), rank, ranks);
    const auto check = [&](espalier_levels_options options) {
      const MadeLevels barrier(met.comm, &options), reduce(met.comm, &options), bcast(met.comm, &options),
          top_k(met.comm, &options);
      SCOPED_TRACE(espalier_levels_tree(barrier.get()));
      check_barrier(barrier.get(), met, rank, ranks);
      for (const std::size_t count : {1, 512, 1300, 3, 0}) {
        check_reduce(reduce.get(), rank, ranks, options.root, count);
        check_bcast(bcast.get(), rank, options.root, count * 8 + 1);
        if (count <= 512) check_top_k(top_k.get(), rank, ranks, count);
      }
    };
    // With few slots each is used again and again.
    const struct {
      int root;
      std::size_t slots;
    } cases[] = {{0, 2}, {ranks / 2, 4}, {ranks - 1, levels_slots}};
    for (const auto& [root, slots] : cases) {
      espalier_levels_options options = levels_options_of(slots);
      options.root = root;
      for (options.degree = 0; options.degree <= 3; ++options.degree) {
        options.virtual_levels = options.degree;
        check(options);
      }
      options.degree = 0;
      for (const std::string& tree : trees_of(ranks)) {
        options.tree = tree.c_str();
        check(options);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Levels, OfRanks, ::testing::Range(1, 10));

TEST(Levels, ViewsShowTheGroups) {
  run_ranks(6, [&](int rank) {
    const Met met(own_name("views"), rank, 6);
    espalier_levels_options options{};
    options.member_bytes = 100;
    options.tree = "((0 1 2) (3 4) 5)";
    const MadeLevels levels(met.comm, &options);
    ASSERT_EQ(espalier_levels_count(levels.get()), 2);
    EXPECT_STREQ(espalier_levels_tree(levels.get()), "machine(virtual(0 1 2) virtual(3 4) 5)");
    espalier_group_view low, high;
    ASSERT_EQ(espalier_levels_group(levels.get(), 0, &low), ESPALIER_OK);
    ASSERT_EQ(espalier_levels_group(levels.get(), 1, &high), ESPALIER_OK);
    EXPECT_EQ(low.size, rank < 3 ? 3 : rank < 5 ? 2 : 0);
    EXPECT_EQ(high.size, rank == 0 || rank == 3 || rank == 5 ? 3 : 0);
    EXPECT_TRUE(low.level == 0 && high.level == 1);
    if (rank == 1) {
      EXPECT_TRUE(low.rank == 1 && low.previous == 0 && low.next == 2 && low.members[2] == 2);
      EXPECT_TRUE(low.shared_bytes == 64 && low.member_bytes == 128 && low.bytes == 64 + 3 * 128);
      EXPECT_EQ(espalier_group_part(&low, 2), 64U + 2 * 128);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(low.segment) % 64, 0U);
      EXPECT_STREQ(low.domain, "virtual");
      EXPECT_EQ(low.traversal, 0U);
    }
    if (rank == 5) {
      EXPECT_TRUE(high.rank == 2 && high.next == 0 && high.members[1] == 3);
      EXPECT_STREQ(high.domain, "machine");
      EXPECT_EQ(espalier_group_store(&low, 0, 1), ESPALIER_ERR_ARGUMENT);
      EXPECT_TRUE(error_has("no group there")) << espalier_error_text();
    }
  });
}

// The communicator is needed to make levels, and not to use them.
TEST(Levels, LevelsOutliveTheirCommunicator) {
  run_ranks(3, [&](int rank) {
    espalier_comm* comm = nullptr;
    ASSERT_EQ(espalier_comm_meet(own_name("outlive").c_str(), rank, 3, 20000, &comm), ESPALIER_OK);
    const MadeLevels first(comm), second(comm);
    espalier_comm_free(comm);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(levels_barrier(first.get()), ESPALIER_OK) << espalier_error_text();
      std::uint64_t value = static_cast<std::uint64_t>(rank);
      ASSERT_EQ(stranger_max(second.get(), &value), ESPALIER_OK);
      EXPECT_EQ(value, 2U);
    }
  });
}

}  // namespace
