// What goes wrong with levels is said, on all ranks that would wait for it.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/capi/levels.hpp"

namespace {

using espalier::testing::error_has;
using espalier::testing::MadeLevels;
using espalier::testing::Met;
using espalier::testing::own_name;
using espalier::testing::run_ranks;

// Of one rank, with which it asks the others into levels.
TEST(LevelsMistakes, OneRanksMistakeIsEachRanksError) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("levels-options"), rank, 3);
    const auto refuse = [&](int code, const char* text, auto change) {
      espalier_levels_options options = levels_example_options();
      if (rank == 1) change(options);
      espalier_levels* levels = nullptr;
      EXPECT_EQ(espalier_levels_create(met.comm, &options, &levels), code);
      EXPECT_EQ(levels, nullptr);
      EXPECT_TRUE(error_has(rank == 1 ? text : "rank 1")) << espalier_error_text();
    };
    const int argument = ESPALIER_ERR_ARGUMENT, refused = ESPALIER_ERR_REFUSED;
    refuse(argument, "root 3: the ranks are 0 to 2", [](auto& options) { options.root = 3; });
    refuse(argument, "root -1", [](auto& options) { options.root = -1; });
    refuse(argument, "degree -1", [](auto& options) { options.degree = -1; });
    refuse(argument, "65 virtual levels", [](auto& options) { options.virtual_levels = 65; });
    refuse(argument, "18446744073709551615 shared",
           [](auto& options) { options.shared_bytes = ~std::size_t{0}; });
    refuse(argument, "rank 2 is missing", [](auto& options) { options.tree = "(0 1)"; });
    refuse(argument, "column 4", [](auto& options) { options.tree = "(0 ?)"; });
    refuse(refused, "rank 1 has other options", [](auto& options) { options.degree = 2; });
    refuse(refused, "rank 1 has other options", [](auto& options) { options.tree = "((0 1) 2)"; });
    refuse(refused, "rank 1 has other options", [](auto& options) { options.root = 2; });

    espalier_levels* levels = nullptr;
    EXPECT_EQ(espalier_levels_create(met.comm, nullptr, rank == 1 ? nullptr : &levels), argument);
    EXPECT_TRUE(error_has(rank == 1 ? "place for the levels is NULL" : "an argument of rank 1"));
    const MadeLevels good(met.comm);
    EXPECT_EQ(levels_barrier(good.get()), ESPALIER_OK) << "the communicator is as good as before";
  });
}

TEST(LevelsMistakes, NullsAreErrors) {
  const int argument = ESPALIER_ERR_ARGUMENT;
  const auto nothing = [](const espalier_group_view*, void*) { return 0; };
  espalier_levels* levels = nullptr;
  espalier_group_view view;
  std::uint64_t word = 0;
  EXPECT_EQ(espalier_levels_create(nullptr, nullptr, &levels), argument);
  EXPECT_TRUE(error_has("communicator is NULL"));
  espalier_levels_free(nullptr);
  EXPECT_EQ(espalier_levels_count(nullptr), -1);
  EXPECT_STREQ(espalier_levels_tree(nullptr), "");
  EXPECT_EQ(espalier_levels_group(nullptr, 0, &view), argument);
  EXPECT_EQ(espalier_levels_up(nullptr, nothing, nullptr), argument);
  EXPECT_EQ(espalier_levels_down(nullptr, nothing, nullptr), argument);
  EXPECT_EQ(espalier_group_load(nullptr, 0, &word), argument);
  EXPECT_TRUE(error_has("view is NULL"));
}

int misuse(const espalier_group_view* group, void*) {
  const int argument = ESPALIER_ERR_ARGUMENT;
  std::uint64_t word = 0;
  EXPECT_EQ(espalier_group_store(group, 4, 1), argument);
  EXPECT_TRUE(error_has("offset 4: need a multiple of 8")) << espalier_error_text();
  EXPECT_EQ(espalier_group_load(group, group->bytes, &word), argument);
  EXPECT_TRUE(error_has("the group's segment has 128 bytes")) << espalier_error_text();
  EXPECT_EQ(espalier_group_load(group, 0, nullptr), argument);
  EXPECT_EQ(espalier_group_put(group, 0, nullptr, 8), argument);
  EXPECT_EQ(espalier_group_get(group, 121, &word, 8), argument);
  EXPECT_EQ(espalier_group_fetch_add(group, 1, 1, nullptr), argument);
  EXPECT_EQ(espalier_group_compare_swap(group, 128, 0, 0, nullptr), argument);
  EXPECT_EQ(espalier_group_wait_until(group, 0, static_cast<espalier_until>(9), 0), argument);
  EXPECT_TRUE(error_has("9 is no espalier_until")) << espalier_error_text();
  EXPECT_EQ(espalier_group_put(group, 0, nullptr, 0), ESPALIER_OK);
  EXPECT_EQ(espalier_group_fetch_add(group, 0, 7, nullptr), ESPALIER_OK);
  EXPECT_EQ(espalier_group_load(group, 0, &word), ESPALIER_OK);
  EXPECT_EQ(word, 7U);
  return ESPALIER_OK;
}

TEST(LevelsMistakes, OperationsOutOfPlaceDoNothing) {
  run_ranks(1, [&](int rank) {
    const Met met(own_name("levels-misuse"), rank, 1);
    espalier_levels* levels = nullptr;
    ASSERT_EQ(espalier_levels_create(met.comm, nullptr, &levels), ESPALIER_OK);
    EXPECT_EQ(espalier_levels_up(levels, misuse, nullptr), ESPALIER_OK) << espalier_error_text();
    espalier_group_view view;
    EXPECT_EQ(espalier_levels_group(levels, 1, &view), ESPALIER_ERR_ARGUMENT);
    EXPECT_TRUE(error_has("level 1: the levels are 0 to 0"));
    EXPECT_EQ(espalier_levels_group(levels, 0, nullptr), ESPALIER_ERR_ARGUMENT);
    espalier_levels_free(levels);
  });
}

int wait_for_ever(const espalier_group_view* group, void*) {
  return espalier_group_wait_until(group, 0, ESPALIER_UNTIL_EQUAL, 1);
}
int give_up(const espalier_group_view*, void*) { return 77; }

void expect_of_no_use(espalier_levels* levels) {
  EXPECT_EQ(levels_barrier(levels), ESPALIER_ERR_PEERS);
  EXPECT_TRUE(error_has("of no more use")) << espalier_error_text();
}

TEST(LevelsMistakes, ABaseCaseThatFailsEndsTheOthersWaits) {
  run_ranks(4, [&](int rank) {
    const Met met(own_name("levels-fail"), rank, 4);
    const MadeLevels levels(met.comm), others(met.comm);
    EXPECT_EQ(espalier_levels_up(levels.get(), rank == 2 ? give_up : wait_for_ever, nullptr),
              rank == 2 ? 77 : ESPALIER_ERR_PEERS);
    if (rank != 2) {
      EXPECT_TRUE(error_has("the base case of rank 2 returned 77 at level 0")) << espalier_error_text();
    }
    expect_of_no_use(levels.get());
    EXPECT_EQ(levels_barrier(others.get()), ESPALIER_OK) << "other levels go on";
  });
}

TEST(LevelsMistakes, ABaseCaseThatIsNullEndsTheOthersWaits) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("levels-null"), rank, 3);
    const MadeLevels levels(met.comm);
    EXPECT_EQ(espalier_levels_down(levels.get(), rank == 0 ? nullptr : wait_for_ever, nullptr),
              rank == 0 ? ESPALIER_ERR_ARGUMENT : ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has(rank == 0 ? "the base case is NULL" : "the base case of rank 0 is NULL"));
    expect_of_no_use(levels.get());
  });
}

TEST(LevelsMistakes, ARankThatFreesItsLevelsEarlyIsNamed) {
  run_ranks(3, [&](int rank) {
    const Met met(own_name("levels-free"), rank, 3);
    const MadeLevels levels(met.comm);
    EXPECT_EQ(levels_barrier(levels.get()), ESPALIER_OK);
    if (rank == 1) return;
    EXPECT_EQ(espalier_levels_up(levels.get(), wait_for_ever, nullptr), ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("rank 1 has freed its levels")) << espalier_error_text();
    expect_of_no_use(levels.get());
  });
}

TEST(LevelsMistakes, ARankThatIsKilledIsNamed) {
  espalier::testing::Job job(4, [&](int rank) {
    const Met met(own_name("levels-killed"), rank, 4);
    espalier_levels_options options = levels_example_options();
    options.tree = "((0 1) (2 3))";
    const MadeLevels levels(met.comm, &options);
    EXPECT_EQ(levels_barrier(levels.get()), ESPALIER_OK);
    if (rank == 3) raise(SIGKILL);
    EXPECT_EQ(levels_barrier(levels.get()), ESPALIER_ERR_PEERS);
    EXPECT_TRUE(error_has("rank 3 has ended")) << espalier_error_text();
  });
  EXPECT_EQ(job.wait(3), -SIGKILL);
  job.expect_success();
}

}  // namespace
