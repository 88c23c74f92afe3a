#include "memory/share_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <vector>

namespace espalier::memory {
namespace {

constexpr std::size_t registration_place = 640;

/// A directory in an arena, as one process of a node has it.
class Directory : public ::testing::Test {
 protected:
  void SetUp() override { open(16 << 20); }
  void open(std::size_t bytes) {
    std::string why;
    arena = Arena::found(Segment::create_memfd(bytes, why), ShareDirectory::bytes(), why);
    ASSERT_TRUE(arena) << why;
    directory = std::make_unique<ShareDirectory>(*arena, arena->notes(), registration_place);
    directory->found();
  }

  ShareDirectory::Found obtain(std::uint64_t communicator, std::uint64_t group = 7, int ranks = 2,
                               std::uint64_t bytes = 8192) {
    return directory->obtain(
        {communicator, 1}, {group, 2}, ranks, [&] { return NewShare{bytes, 1.5, 8, true}; },
        [&](std::uint64_t offset) {
          ++prepared;
          return arena->reserve({offset, bytes}, 0, bytes);
        });
  }
  void leave(const ShareDirectory::Found& found, bool spoiled = false) {
    directory->leave(found.offset, spoiled, [&] { ++cleaned; });
  }

  std::unique_ptr<Arena> arena;
  std::unique_ptr<ShareDirectory> directory;
  int prepared = 0, cleaned = 0;
};

TEST_F(Directory, AllRanksOfACommunicatorFindOneShare) {
  const auto first = obtain(1), second = obtain(1), other = obtain(2);
  ASSERT_NE(first.offset, 0u);
  EXPECT_EQ(second.offset, first.offset);
  EXPECT_NE(other.offset, first.offset);
  EXPECT_EQ(prepared, 2);
  EXPECT_EQ(second.registration.ranks_per_core, 1.5);
  EXPECT_EQ(second.registration.slot_count, 8);
  EXPECT_EQ(second.registration.many_pairwise, 1);
}

TEST_F(Directory, TheNextCommunicatorOfAGroupGetsTheShareThatAllHaveLeft) {
  const auto first = obtain(1);
  leave(first);
  EXPECT_NE(obtain(2).offset, first.offset);  // one rank still uses it
  leave(first);
  EXPECT_EQ(cleaned, 1);
  EXPECT_NE(obtain(3, 8).offset, first.offset);  // of other ranks
  const auto again = obtain(4);
  EXPECT_EQ(again.offset, first.offset);
  EXPECT_EQ(again.registration.generation, first.registration.generation);
  EXPECT_EQ(again.registration.left, 0);
}

TEST_F(Directory, AShareIsKeptWhileItIdlesAndForItsNextCommunicator) {
  const auto first = obtain(1);
  const auto kept = [&] { return directory->is_kept(first.offset, {7, 2}, first.registration.generation); };
  EXPECT_TRUE(kept());
  leave(first);
  leave(first);
  EXPECT_TRUE(kept());
  obtain(2);
  EXPECT_TRUE(kept());
  EXPECT_FALSE(directory->is_kept(first.offset, {7, 2}, first.registration.generation + 1));
}

TEST_F(Directory, SaysWhetherARankHasObtainedAShare) {
  EXPECT_FALSE(directory->has({1, 1}));
  const auto first = obtain(1);
  EXPECT_TRUE(directory->has({1, 1}));
  EXPECT_FALSE(directory->has({2, 1}));
  leave(first);
  EXPECT_TRUE(directory->has({1, 1}));
  leave(first);
  EXPECT_FALSE(directory->has({1, 1}));
  EXPECT_EQ(prepared, 1);
}

TEST_F(Directory, SharesOfAGroupGoInAnyOrder) {
  std::vector<ShareDirectory::Found> all;
  for (std::uint64_t number = 1; number <= 9; ++number) all.push_back(obtain(number, 7, 1));
  const auto kept = [&](const ShareDirectory::Found& found) {
    return directory->is_kept(found.offset, {7, 2}, found.registration.generation);
  };
  std::vector<bool> gone(all.size());
  for (const std::size_t next : {4, 0, 8, 3, 5, 1, 7, 2, 6}) {
    leave(all[next], true);
    gone[next] = true;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(kept(all[i]), !gone[i]) << i << " after " << next;
  }
  EXPECT_EQ(arena->used(), 0u);
}

TEST_F(Directory, SpoiledSharesGoBackToTheArena) {
  const auto first = obtain(1);
  leave(first, true);
  leave(first);
  EXPECT_EQ(arena->used(), 0u);
  EXPECT_FALSE(directory->is_kept(first.offset, {7, 2}, first.registration.generation));
  EXPECT_NE(obtain(2).registration.generation, first.registration.generation);
}

TEST_F(Directory, SlotsAreAllottedOnceAndStayWithTheShare) {
  const auto first = obtain(1);
  int backed = 0;
  const auto slots = [&](const ShareDirectory::Found& found) {
    return directory->obtain_slots(found.offset, 100000, [&](Share) { return ++backed == 1; });
  };
  const std::uint64_t where = slots(first);
  ASSERT_NE(where, 0u);
  EXPECT_EQ(slots(first), where);
  leave(first);
  leave(first);
  EXPECT_EQ(obtain(2).registration.slots, where);
  leave(first, true);
  leave(first);
  EXPECT_EQ(arena->used(), 0u);
}

TEST_F(Directory, AllRanksLearnThatThereAreNoSlots) {
  const auto first = obtain(1);
  EXPECT_EQ(directory->obtain_slots(first.offset, std::uint64_t{1} << 40, [](Share) { return true; }), 0u);
  EXPECT_EQ(directory->obtain_slots(first.offset, 4096, [](Share) { return true; }), 0u);
}

// What a rank finds it must find for ever, or another rank would be alone with the share.
TEST_F(Directory, OnceTheArenaIsSpentNoCommunicatorGetsANewShare) {
  std::vector<ShareDirectory::Found> found;
  std::uint64_t number = 0;
  while (true) {
    const auto next = obtain(++number, 7, 1, 1 << 20);
    if (next.offset == 0) break;
    found.push_back(next);
  }
  ASSERT_GT(found.size(), 8u);
  leave(found.back());
  EXPECT_EQ(obtain(number).offset, 0u);
  EXPECT_EQ(obtain(number + 1).offset, 0u);
  EXPECT_EQ(obtain(1).offset, found.front().offset);
}

TEST_F(Directory, IdleSharesMakeRoomForOthers) {
  std::set<std::uint64_t> groups;
  for (std::uint64_t group = 0; group < 100; ++group) {  // together more than the arena has
    const auto found = obtain(1000 + group, group, 1, 1 << 20);
    ASSERT_NE(found.offset, 0u) << "group " << group;
    leave(found);
  }
}

TEST_F(Directory, AProcessThatDiesWithTheLockHoldsUpNoOther) {
  const auto first = obtain(1);
  arena->share_with_children({0, 16 << 20});  // for the child of this test alone
  EXPECT_DEATH(directory->obtain(
                   {2, 1}, {7, 2}, 2, [] { return NewShare{8192, 1, 8, false}; },
                   [](std::uint64_t) -> bool { _exit(3); }),
               "");
  EXPECT_DEATH(directory->obtain_slots(first.offset, 4096, [](Share) -> bool { _exit(3); }), "");
  EXPECT_EQ(obtain(1).offset, first.offset);
  EXPECT_NE(obtain(3).offset, 0u);
  EXPECT_NE(directory->obtain_slots(first.offset, 4096, [](Share) { return true; }), 0u);
}

}  // namespace
}  // namespace espalier::memory
