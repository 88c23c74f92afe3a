#include "memory/remote_read.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <numeric>
#include <vector>

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
}

TEST(RemoteRead, MemoryThatIsNotThereIsRefused) {
  const auto page = static_cast<std::size_t>(getpagesize());
  auto* two =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  two[0] = 1;
  munmap(two + page, page);
  std::vector<char> target(2 * page);
  EXPECT_FALSE(read_remotely(getpid(), target.data(), two, 2 * page)) << "it stops at the hole";
  EXPECT_FALSE(readable_remotely(two, 2 * page, true));
  if (read_remotely(getpid(), target.data(), two, page)) {
    EXPECT_TRUE(readable_remotely(two, page, true));
  }
  munmap(two, page);
}

}  // namespace
}  // namespace espalier::memory
