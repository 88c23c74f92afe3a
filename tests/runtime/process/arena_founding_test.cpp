// Ranks of nodes that found their arenas, where one of them is refused a call, or dies, or strangers come.
#include "runtime/process/arena_founding.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "base/token.hpp"
#include "runtime/process/handover_rounds.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using espalier::testing::Board;
using espalier::testing::bootstrap_of;
using espalier::testing::run_ranks;

constexpr std::size_t arena_size = std::size_t{4} << 20, notes = 4096;

/// No new descriptor from now on; those that are open stay.
void use_no_descriptors() {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/// What a rank comes to; `why` is empty where all members have an arena.
std::string found(Board& board, int rank, const std::vector<int>& members, std::uint64_t token) {
  const Bootstrap world = bootstrap_of(board, rank);
  ArenaFounding founding(world, members, token);
  auto arena = founding.obtain(arena_size, notes);
  if (arena) arena->notes()[rank] = static_cast<std::byte>(rank + 1);
  std::string why;
  founding.agree(arena, why);
  EXPECT_EQ(arena == nullptr, !why.empty() || members.empty());
  if (arena) {
    for (const int member : members) EXPECT_EQ(arena->notes()[member], static_cast<std::byte>(member + 1));
  }
  return why;
}

TEST(ArenaFounding, EachNodeHasAnArenaOfItsOwn) {
  Board board(6);
  const std::uint64_t tokens[] = {random_token(), random_token()};
  run_ranks(6, [&](int rank) {
    const std::vector<int> members = rank == 5  ? std::vector<int>{}
                                     : rank % 2 ? std::vector{1, 3}
                                                : std::vector{0, 2, 4};
    EXPECT_EQ(found(board, rank, members, tokens[rank % 2]), "");
  });
}

TEST(ArenaFounding, ByANameWhereAnonymousFilesAreSwitchedOff) {
  Board board(3);
  const std::uint64_t token = random_token();
  const espalier::testing::ShmWatch watch;
  run_ranks(3, [&](int rank) {
    setenv("ESPALIER_MEMFD", "off", 1);
    EXPECT_EQ(found(board, rank, {0, 1, 2}, token), "");
  });
  EXPECT_EQ(watch.left_behind(), std::vector<std::string>());
}

TEST(ArenaFounding, ARankWithoutDescriptorsIsNamedToAllOfItsNodeAlone) {
  for (const int victim : {0, 1, 2}) {
    Board board(5);
    const std::uint64_t tokens[] = {random_token(), random_token()};
    run_ranks(5, [&](int rank) {
      if (rank == victim) use_no_descriptors();
      const bool on_other_node = rank > 2;
      const std::vector<int> members = on_other_node ? std::vector{3, 4} : std::vector{0, 1, 2};
      const std::string why = found(board, rank, members, tokens[on_other_node]);
      EXPECT_EQ(why.empty(), on_other_node) << why;
      if (on_other_node) return;
      EXPECT_NE(why.find("Too many open files"), std::string::npos) << why;
      EXPECT_NE(why.find("(rank " + std::to_string(victim) + ")"), std::string::npos) << why;
    });
  }
}

TEST(ArenaFounding, TooSmallAnArenaIsRefusedOnAllAlike) {
  Board board(2);
  const std::uint64_t token = random_token();
  run_ranks(2, [&](int rank) {
    const Bootstrap world = bootstrap_of(board, rank);
    const std::vector<int> members = {0, 1};
    ArenaFounding founding(world, members, token);
    auto arena = founding.obtain(4096, notes);
    EXPECT_FALSE(arena);
    std::string why;
    founding.agree(arena, why);
    EXPECT_NE(why.find("too few for an arena"), std::string::npos) << why;
  });
}

TEST(Outcomes, NameTheFirstRankThatGivesAReason) {
  const std::vector<Outcome> all = {outcome_of(true, "unused"), outcome_of(false, ""),
                                    outcome_of(false, "a call: refused"), outcome_of(false, "another")};
  EXPECT_EQ(first_failure(all, {0}), "");
  EXPECT_EQ(first_failure(all, {}), "");
  EXPECT_EQ(first_failure(all, {0, 1, 2, 3}), "a call: refused (rank 2)");
  EXPECT_NE(first_failure(all, {0, 1}), "");
}

TEST(Outcomes, ThatCameWithoutAnEndAreRead) {
  Outcome endless;
  std::memset(&endless, 'x', sizeof endless);
  endless.has_memory = 0;
  EXPECT_EQ(first_failure({endless}, {0}), std::string(sizeof endless.why, 'x') + " (rank 0)");
}

}  // namespace
}  // namespace espalier::runtime
