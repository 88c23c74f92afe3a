#include "memory/heap/shared_heap.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "memory/copy/remote_read.hpp"
#include "memory/heap/peer_heaps.hpp"
#include "tests/memory/children.hpp"
#include "tests/memory/faults.hpp"

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

// The kernel stores a byte there, or says that it cannot.
bool can_be_written(std::byte* place) {
  const Descriptor zeros = open_file("/dev/zero", O_RDONLY);
  return read(zeros.get(), place, 1) == 1;
}

TEST_F(SharedHeaps, NobodyCanTouchWhatWasNeverHandedOut) {
  constexpr std::size_t much = 64 << 20;
  const HeapNotice here = SharedHeap::notice();
  std::byte* const last = reinterpret_cast<std::byte*>(here.begin) + here.bytes - 1;
  std::byte* const block = allocate(much);
  const auto look = [&] {
    EXPECT_FALSE(can_be_written(last));
    EXPECT_TRUE(can_be_written(block));
    EXPECT_TRUE(can_be_written(block + much - 1));
    return 0;
  };
  look();
  EXPECT_EQ(testing::end_of(testing::fork_child(look)), 0);
  EXPECT_TRUE(heap().free(block));
  look();
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
  SharedHeap::drop_kept();
  const auto page = static_cast<std::size_t>(getpagesize());
  EXPECT_LT(resident_pages() + much / page / 2, with);
}

TEST_F(SharedHeaps, MoreThanIsKeptIsGivenBackAtOnce) {
  const std::size_t much = SharedHeap::keeps() + 1;
  std::byte* block = allocate(much);
  std::memset(block, 1, much);
  const std::size_t with = resident_pages();
  EXPECT_TRUE(heap().free(block));
  const auto page = static_cast<std::size_t>(getpagesize());
  EXPECT_LT(resident_pages() + much / page / 2, with);
}

TEST_F(SharedHeaps, AFreedBlockIsTheNextOfItsSize) {
  for (const std::size_t size : {SharedHeap::least, some, std::size_t{3} << 20}) {
    std::byte* block = allocate(size);
    block[size - 1] = std::byte{7};
    EXPECT_TRUE(heap().free(block));
    EXPECT_FALSE(heap().free(block)) << "what is kept is not in use";
    long faults = -1;
    std::byte* again = nullptr;
    faults = testing::faults_of([&] {
      again = allocate(size);
      again[size - 1] = std::byte{8};
    });
    EXPECT_EQ(again, block);
    EXPECT_EQ(faults, 0) << "its pages are still there";
    EXPECT_TRUE(SharedHeap::holds(again, size));
    EXPECT_TRUE(heap().free(again));
  }
}

TEST_F(SharedHeaps, ThreadsGetBlocksOfTheirOwn) {
  std::atomic<int> wrong = 0;
  const auto work = [&](std::size_t number) {
    for (std::size_t round = 0; round < 500; ++round) {
      const std::size_t size = SharedHeap::least << (round + number) % 4;
      std::byte* block = allocate(size);
      std::memset(block, static_cast<int>(number), size);
      for (std::size_t i = 0; i < size; i += 4096) wrong += block[i] != static_cast<std::byte>(number);
      wrong += !heap().free(block);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t number = 1; number <= 4; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
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
    EXPECT_EQ(peer_heaps::find(parent, block, some), nullptr) << "there is no directory";
    peer_heaps::forget();
    peer_heaps::look_up_in([&](pid_t process) { return process == parent ? &notice : nullptr; });
    EXPECT_EQ(peer_heaps::find(parent + 1, block, some), nullptr) << "no process of the directory";
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
  notice.bytes += 65536;  // an access there would end the process
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
    EXPECT_FALSE(SharedHeap::holds(block, some)) << "no other process sees these pages";
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

// What a child of fork() must see, whatever its parent does after the fork.
class ForkedHeaps : public SharedHeaps {
 protected:
  void SetUp() override {
    SharedHeaps::SetUp();
    if (IsSkipped()) return;
    block = allocate(some);
    std::memset(block, 1, some);
  }
  void TearDown() override {
    if (block) heap().free(block);
  }
  bool is_all(int value) const {
    for (std::size_t i = 0; i < some; ++i)
      if (block[i] != static_cast<std::byte>(value)) return false;
    return true;
  }
  std::byte* block = nullptr;
  Signal changed;
};

TEST_F(ForkedHeaps, AChildSeesNothingOfWhatItsParentWritesLater) {
  const pid_t child = testing::fork_child([&] {
    changed.take();
    EXPECT_TRUE(is_all(1));
    return 0;
  });
  std::memset(block, 2, some);
  changed.give();
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(is_all(2));
}

TEST_F(ForkedHeaps, AChildKeepsWhatItsParentFrees) {
  const pid_t child = testing::fork_child([&] {
    changed.take();
    EXPECT_TRUE(is_all(1));
    return 0;
  });
  heap().free(block);
  SharedHeap::drop_kept();
  block = allocate(some);
  std::memset(block, 3, some);
  changed.give();
  EXPECT_EQ(testing::end_of(child), 0);
}

TEST_F(ForkedHeaps, WhatWasNeverWrittenIsAlsoTheChildsOwn) {
  constexpr std::size_t much = 8 << 20;
  std::byte* sparse = allocate(much);
  sparse[much - 1] = std::byte{5};
  const pid_t child = testing::fork_child([&] {
    changed.take();
    EXPECT_EQ(sparse[much / 2], std::byte{0});
    EXPECT_EQ(sparse[much - 1], std::byte{5});
    sparse[much / 4] = std::byte{9};
    return 0;
  });
  sparse[much / 2] = std::byte{6};
  changed.give();
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_EQ(sparse[much / 4], std::byte{0});
  EXPECT_TRUE(heap().free(sparse));
}

TEST_F(ForkedHeaps, AGrandchildSeesWhatTheChildHadAtItsFork) {
  const pid_t child = testing::fork_child([&] {
    Signal child_changed;
    block[9] = std::byte{3};
    const pid_t grandchild = testing::fork_child([&] {
      child_changed.take();
      EXPECT_EQ(block[9], std::byte{3});
      EXPECT_EQ(block[10], std::byte{1});
      return 0;
    });
    changed.take();
    block[9] = block[10] = std::byte{4};
    child_changed.give();
    return testing::end_of(grandchild);
  });
  std::memset(block, 2, some);
  changed.give();
  EXPECT_EQ(testing::end_of(child), 0);
}

// Later forks copy what is there then, also where blocks have come and gone.
TEST_F(ForkedHeaps, EachChildSeesItsOwnMoment) {
  std::vector<pid_t> children;
  for (int moment = 1; moment <= 3; ++moment) {
    std::memset(block, moment, some);
    children.push_back(testing::fork_child([&] {
      changed.take();
      EXPECT_TRUE(is_all(moment));
      return 0;
    }));
  }
  std::memset(block, 9, some);
  for (std::size_t i = 0; i < children.size(); ++i) changed.give();
  for (const pid_t child : children) EXPECT_EQ(testing::end_of(child), 0);
}

TEST_F(ForkedHeaps, AChildHasNothingOfTheHeapsFile) {
  const pid_t child = testing::fork_child([&] {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      EXPECT_EQ(line.find("memfd:espalier"), std::string::npos) << line;
    EXPECT_EQ(SharedHeap::notice().exists, 0);
    return 0;
  });
  EXPECT_EQ(testing::end_of(child), 0);
}

// The kernel wipes what says that this heap is the process's own, in any child.
TEST_F(ForkedHeaps, AChildByCloneReadsAndDisturbsNothing) {
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    const bool sees = is_all(1);
    const bool freed = heap().free(block);
    _exit(sees && freed && !heap().allocate(some) && !SharedHeap::holds(block, some) ? 0 : 1);
  }
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(is_all(1));
  EXPECT_TRUE(SharedHeap::holds(block, some));
}

TEST_F(ForkedHeaps, AProgramCanBeSpawned) {
  pid_t child = 0;
  const char* const words[] = {"true", nullptr};
  ASSERT_EQ(posix_spawnp(&child, "true", nullptr, nullptr, const_cast<char* const*>(words), environ), 0);
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(is_all(1));
  EXPECT_TRUE(SharedHeap::holds(block, some));
}

TEST_F(ForkedHeaps, ThreadsAllocateWhileAnotherForks) {
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number)
    threads.emplace_back([&] {
      while (!ends) {
        std::byte* own = allocate(some);
        own[some / 2] = std::byte{1};
        heap().free(own);
      }
    });
  for (int round = 0; round < 50; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(is_all(1) && heap().free(block) && !heap().allocate(some) ? 0 : 1);
    EXPECT_EQ(testing::end_of(child), 0);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(is_all(1));
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
