#include "machine/levels/levels.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "machine/levels/segment_operations.hpp"

namespace espalier::machine {
namespace {

TEST(LevelsLayout, SegmentsLieOneBehindTheOther) {
  const LevelsLayout layout(tree::parse_groups("((0 1 2) (3 4) 5)", 6), 0, 64, 128);
  EXPECT_EQ(layout.count(), 2);
  EXPECT_EQ(layout.text(), "machine(virtual(0 1 2) virtual(3 4) 5)");
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const GroupSegment& segment : layout.segments()) places.emplace_back(segment.offset, segment.bytes);
  EXPECT_EQ(places, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 448}, {640, 320}, {1152, 448}}));
  EXPECT_EQ(layout.bytes(), 1152 + 512 + 128U);
  EXPECT_EQ(LevelsLayout::waits_of(layout.segments()[1]), 640 + 384U);
}

/// All ranks' segments in one piece of memory; a wait that spins.
class Local final : public Levels {
 public:
  Local(const LevelsLayout& levels_layout, int own_rank, std::byte* memory)
      : Levels(levels_layout, own_rank) {
    take_own([&](const GroupSegment& segment, int) {
      return std::make_unique<SegmentOperations>(
          SegmentOperations::Memory{memory + segment.offset, segment.bytes, {nullptr, 0}}, true,
          [](const SegmentOperations::Done& done) {
            while (!done()) std::this_thread::yield();
          });
    });
  }
};

TEST(Levels, ARankHasItsGroupsByLevel) {
  const LevelsLayout layout(tree::parse_groups("((0 1 2) (3 4) 5)", 6), 4, 64, 64);
  std::vector<std::uint64_t> memory(layout.bytes() / 8);
  auto* const base = reinterpret_cast<std::byte*>(memory.data());
  Local three(layout, 3, base), four(layout, 4, base), five(layout, 5, base);
  ASSERT_TRUE(three.own(0) && four.own(0) && four.own(1) && five.own(1));
  EXPECT_FALSE(three.own(1) || five.own(0) || four.own(2));
  EXPECT_EQ(three.own(0)->place, 1);
  EXPECT_EQ(four.own(0)->place, 0);
  EXPECT_EQ(five.own(1)->group.members, (std::vector{4, 5, 0}));
  EXPECT_EQ(four.own(0)->operations->segment(), base + layout.segments()[1].offset);
  EXPECT_EQ(four.traversal(), 0U);
  four.begin();
  EXPECT_EQ(four.traversal(), 1U);
}

class Segment : public ::testing::Test {
 protected:
  std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(8);
  SegmentOperations operations{{reinterpret_cast<std::byte*>(memory.data()), 64, {nullptr, 0}},
                               false,
                               [this](const SegmentOperations::Done& done) {
                                 for (waited = 0; !done(); ++waited) memory[2] += 1;
                               }};
  int waited = -1;
};

TEST_F(Segment, WordsAreReadAndChanged) {
  operations.store(8, 5);
  EXPECT_EQ(operations.load(8), 5U);
  EXPECT_EQ(operations.fetch_add(8, 2), 5U);
  EXPECT_EQ(operations.compare_swap(8, 6, 9), 7U);
  EXPECT_EQ(operations.load(8), 7U);
  EXPECT_EQ(operations.compare_swap(8, 7, 9), 7U);
  EXPECT_EQ(operations.load(8), 9U);
  EXPECT_EQ(memory[1], 9U);
  EXPECT_EQ(operations.segment(), nullptr) << "it was not exposed";
}

TEST_F(Segment, DataGoInAndOut) {
  const char text[] = "espalier";
  operations.put(64 - sizeof text, text, sizeof text);
  char got[sizeof text] = {};
  operations.get(64 - sizeof text, got, sizeof text);
  EXPECT_STREQ(got, text);
  operations.put(64, nullptr, 0);
  operations.get(64, nullptr, 0);
}

TEST_F(Segment, AWaitEndsWhenTheWordIsAsSaid) {
  operations.wait_until(16, Until::equal, 0);
  operations.wait_until(16, Until::at_least, 0);
  operations.wait_until(16, Until::not_equal, 1);
  EXPECT_EQ(waited, -1) << "no wait where the word is there";
  operations.wait_until(16, Until::not_equal, 0);
  EXPECT_EQ(waited, 1);
  operations.wait_until(16, Until::equal, 4);
  EXPECT_EQ(waited, 3);
  operations.wait_until(16, Until::at_least, 6);
  EXPECT_EQ(waited, 2);
}

// Without the wake-ups it would take hours.
TEST(GroupWaits, AStoreWakesWhoSleeps) {
  for (const bool oversubscribed : {false, true}) {
    alignas(64) std::uint64_t words[2] = {};
    GroupWaits waits{};
    waits.begin(oversubscribed);
    const auto operations = [&] {
      return std::make_unique<SegmentOperations>(
          SegmentOperations::Memory{reinterpret_cast<std::byte*>(words), sizeof words, {nullptr, 0}}, true,
          [&waits](const SegmentOperations::Done& done) {
            // A store that is not fenced may miss a rank that falls asleep at the same moment.
            const std::chrono::seconds limit(waits.fenced != 0 ? 60 : 1);
            while (!done()) waits.sleep(done, limit);
          },
          &waits);
    };
    const auto first = operations(), second = operations();
    std::thread other([&] {
      for (std::uint64_t round = 1; round <= 200; ++round) {
        second->wait_until(0, Until::at_least, round);
        if (round % 2 == 0)
          second->store(8, round);
        else
          second->fetch_add(8, 1);
      }
    });
    for (std::uint64_t round = 1; round <= 200; ++round) {
      first->store(0, round);
      first->wait_until(8, Until::at_least, round);
    }
    other.join();
    EXPECT_EQ(waits.sleepers.load(), 0U);
  }
}

TEST(GroupWaits, WhoSeesTheWordDoesNotSleep) {
  GroupWaits waits{};
  waits.sleep([] { return true; }, std::chrono::hours(1));
  EXPECT_EQ(waits.sleepers.load(), 0U);
  EXPECT_THROW(waits.sleep([]() -> bool { throw Error("gone"); }, std::chrono::hours(1)), Error);
  EXPECT_EQ(waits.sleepers.load(), 0U);
}

TEST_F(Segment, WhatItDoesNotHaveIsRefused) {
  char byte = 0;
  const std::size_t size =
      memory.size() - 9;  // wraps around; not a constant, or the compiler refuses the copies
  EXPECT_THROW(operations.put(64, &byte, 1), GroupArgument);
  EXPECT_THROW(operations.get(1, &byte, size), GroupArgument);
  EXPECT_THROW(operations.get(size, &byte, 1), GroupArgument);
  EXPECT_THROW(operations.store(64, 1), GroupArgument);
  EXPECT_THROW(operations.load(12), GroupArgument);
  EXPECT_THROW(operations.fetch_add(60, 1), GroupArgument);
  EXPECT_THROW(operations.compare_swap(1, 0, 0), GroupArgument);
  EXPECT_THROW(operations.wait_until(72, Until::equal, 0), GroupArgument);
  EXPECT_EQ(memory, std::vector<std::uint64_t>(8)) << "nothing has been done";
}

}  // namespace
}  // namespace espalier::machine
