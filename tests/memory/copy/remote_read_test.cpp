#include "memory/copy/remote_read.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <numeric>
#include <string>
#include <vector>

#include "memory/read_refusals.hpp"

namespace espalier::memory {
namespace {

TEST(RemoteRead, ReadsAnotherProcess) {
  std::vector<int> numbers(100000);
  std::iota(numbers.begin(), numbers.end(), 1);
  const pid_t child = fork();
  if (child == 0) {
    pause();  // keeps its copy of the numbers, which the parent forgets
    _exit(0);
  }
  const std::vector<int> wanted = numbers;
  std::fill(numbers.begin(), numbers.end(), 0);
  std::vector<int> got(numbers.size());
  const bool read = read_remotely(child, got.data(), numbers.data(), got.size() * sizeof(int));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (!read) GTEST_SKIP() << "this machine lets no process read another's memory";
  EXPECT_EQ(got, wanted);
}

TEST(RemoteRead, NothingIsAlwaysRead) { EXPECT_TRUE(read_remotely(getpid(), nullptr, nullptr, 0)); }

TEST(RemoteRead, AProcessThatIsGoneIsRefused) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  int number = 0;
  EXPECT_FALSE(read_remotely(child, &number, &number, sizeof number));
  EXPECT_FALSE(read_refusals::known(read_refusals::Way::kernel)) << "others can still be read";
}

TEST(RemoteRead, MemoryThatIsNotThereIsRefused) {
  const auto page = static_cast<std::size_t>(getpagesize());
  auto* two =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  two[0] = 1;
  munmap(two + page, page);
  std::vector<char> target(2 * page);
  EXPECT_FALSE(read_by_kernel(getpid(), target.data(), two, 2 * page)) << "it stops at the hole";
  EXPECT_EQ(errno, EFAULT);
  EXPECT_FALSE(readable_remotely(two, 2 * page, true));
  if (read_by_kernel(getpid(), target.data(), two, page)) {
    EXPECT_TRUE(readable_remotely(two, page, true));
  }
  munmap(two, page);
}

/// The word of a node, as its ranks see it while this lasts.
struct Node {
  Node() { read_refusals::share(&word); }
  ~Node() { read_refusals::share(nullptr); }
  std::atomic<std::uint32_t> word{0};
};

TEST(RemoteRead, WhatARankWasRefusedIsKnownToAllAndSaidOnce) {
  using read_refusals::Way;
  const Node node;
  int number = 0;
  if (!read_by_kernel(getpid(), &number, &number, sizeof number))
    GTEST_SKIP() << "this machine lets no process read another's memory";
  EXPECT_TRUE(readable_remotely(&number, sizeof number, true));
  ::testing::internal::CaptureStderr();
  read_refusals::note(Way::kernel, 17, EPERM);
  read_refusals::note(Way::kernel, 18, EPERM);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("read the memory of process 17"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_TRUE(read_refusals::known(Way::kernel));
  EXPECT_FALSE(read_refusals::known(Way::heaps));
  EXPECT_FALSE(readable_remotely(&number, sizeof number, true)) << "nothing is exposed to others any more";
  EXPECT_FALSE(read_remotely(getpid(), &number, &number, sizeof number)) << "nor tried";
}

TEST(RemoteRead, AReadThatFailsIsARefusal) {
  const Node node;
  int number = 0;
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(read_remotely(getppid(), &number, nullptr, sizeof number)) << "nothing lies at 0";
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(read_refusals::known(read_refusals::Way::kernel));
}

}  // namespace
}  // namespace espalier::memory
