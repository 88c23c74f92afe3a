#include "memory/shared_heap.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "memory/peer_heaps.hpp"
#include "memory/remote_read.hpp"
#include "tests/memory/children.hpp"

namespace espalier::memory {
namespace {

constexpr std::size_t some = 200'000;

class SharedHeaps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SharedHeap::instance()) GTEST_SKIP() << "no shared heap here: " << SharedHeap::why_none();
  }
  SharedHeap& heap() { return *SharedHeap::instance(); }
  std::byte* allocate(std::size_t size) { return static_cast<std::byte*>(heap().allocate(size)); }
};

std::size_t resident_pages() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

TEST_F(SharedHeaps, HandsOutMemoryAndKnowsIt) {
  std::byte* block = allocate(some);
  ASSERT_NE(block, nullptr);
  std::memset(block, 7, some);
  EXPECT_TRUE(SharedHeap::holds(block, some));
  EXPECT_TRUE(SharedHeap::holds(block + some - 1, 1));
  EXPECT_TRUE(heap().owns(block));
  const int elsewhere = 0;
  EXPECT_FALSE(SharedHeap::holds(&elsewhere, sizeof elsewhere));
  EXPECT_FALSE(SharedHeap::holds(block, SIZE_MAX));
  EXPECT_FALSE(heap().owns(&elsewhere));
  EXPECT_TRUE(heap().free(block));
}

TEST_F(SharedHeaps, FreesWhatBeginsThereAndNothingElse) {
  std::byte* block = allocate(some);
  EXPECT_FALSE(heap().free(block + 4096));
  EXPECT_TRUE(heap().free(block));
  EXPECT_FALSE(heap().free(block));
}

TEST_F(SharedHeaps, LittleAndTooMuchAreNotForIt) {
  EXPECT_EQ(heap().allocate(0), nullptr);
  EXPECT_EQ(heap().allocate(SharedHeap::least - 1), nullptr);
  EXPECT_EQ(heap().allocate(SIZE_MAX / 2), nullptr);
}

TEST_F(SharedHeaps, WhatIsFreedIsGivenBackToTheMachine) {
  constexpr std::size_t much = 64 << 20;
  std::byte* block = allocate(much);
  std::memset(block, 1, much);
  const std::size_t with = resident_pages();
  EXPECT_TRUE(heap().free(block));
  const auto page = static_cast<std::size_t>(getpagesize());
  EXPECT_LT(resident_pages() + much / page / 2, with);
}

/// The child has looked; the parent has changed what it looks at.
class Signal {
 public:
  Signal() {
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void give() { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void take() {
    char any;
    EXPECT_EQ(read(ends_[0], &any, 1), 1);
  }

 private:
  int ends_[2];
};

TEST_F(SharedHeaps, AnotherProcessReadsBlocksWhereTheyLie) {
  std::byte* block = allocate(some);
  for (std::size_t i = 0; i < some; ++i) block[i] = static_cast<std::byte>(i * 31);
  const HeapNotice notice = SharedHeap::notice();
  Signal looked, changed;
  const pid_t parent = getpid();
  const pid_t child = testing::fork_child([&] {
    EXPECT_TRUE(peer_heaps::can_map(parent, notice));
    EXPECT_EQ(peer_heaps::find(parent, block, some), nullptr) << "they have not met";
    peer_heaps::meet(parent, notice);
    const std::byte* there = peer_heaps::find(parent, block, some);
    EXPECT_NE(there, nullptr);
    EXPECT_NE(there, block);
    EXPECT_EQ(std::memcmp(there, block, some), 0);
    looked.give();
    changed.take();
    EXPECT_EQ(there[5], std::byte{99}) << "they are the same pages";
    std::byte copy[16];
    EXPECT_TRUE(read_remotely(parent, copy, block, sizeof copy));
    EXPECT_EQ(copy[5], std::byte{99});
    EXPECT_EQ(peer_heaps::find(parent, block - 4096 * 1000000L, 1), nullptr);
    EXPECT_EQ(peer_heaps::find(parent, block, SIZE_MAX), nullptr);
    peer_heaps::forget();
    EXPECT_EQ(peer_heaps::find(parent, block, some), nullptr);
    return 0;
  });
  looked.take();
  block[5] = std::byte{99};
  changed.give();
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(heap().free(block));
}

TEST_F(SharedHeaps, NoOtherFileIsTakenForAHeap) {
  HeapNotice notice = SharedHeap::notice();
  EXPECT_TRUE(peer_heaps::can_map(getpid(), notice));
  notice.mark ^= 1;
  EXPECT_FALSE(peer_heaps::can_map(getpid(), notice));
  notice = SharedHeap::notice();
  notice.descriptor = 0;
  EXPECT_FALSE(peer_heaps::can_map(getpid(), notice));
  notice.descriptor = 12345;
  EXPECT_FALSE(peer_heaps::can_map(getpid(), notice));
}

// A child of fork() sees the parent's data, and what it writes is its own.
TEST_F(SharedHeaps, AChildCannotChangeItsParentsMemory) {
  std::byte* block = allocate(some);
  std::memset(block, 1, some);
  const pid_t child = testing::fork_child([&] {
    EXPECT_EQ(block[0], std::byte{1});
    EXPECT_EQ(block[some - 1], std::byte{1});
    std::memset(block, 2, some);
    EXPECT_EQ(block[some - 1], std::byte{2});
    EXPECT_FALSE(SharedHeap::holds(block, some)) << "nobody else sees these pages";
    EXPECT_EQ(heap().allocate(some), nullptr);
    EXPECT_TRUE(heap().owns(block));
    EXPECT_TRUE(heap().free(block));
    EXPECT_EQ(SharedHeap::notice().exists, 0);
    return 0;
  });
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_EQ(block[0], std::byte{1});
  EXPECT_EQ(block[some - 1], std::byte{1});
  EXPECT_TRUE(heap().free(block));
}

TEST_F(SharedHeaps, AGrandchildKeepsWhatTheChildHasWritten) {
  std::byte* block = allocate(some);
  std::memset(block, 1, some);
  const pid_t child = testing::fork_child([&] {
    block[9] = std::byte{3};
    return testing::end_of(testing::fork_child([&] { return block[9] == std::byte{3} ? 0 : 1; }));
  });
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(heap().free(block));
}

}  // namespace
}  // namespace espalier::memory
