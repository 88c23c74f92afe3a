#include "base/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace espalier {
namespace {

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

/// What `body` returns in a process whose standard descriptors are closed.
template <class Body>
int in_daemon(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int standard : {0, 1, 2}) close(standard);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Descriptor, ClosesAndMoves) {
  int number = -1;
  {
    Descriptor first = open_file("/dev/null", O_RDONLY);
    number = first.get();
    ASSERT_GT(number, 2);
    Descriptor second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT: what it is after a move is part of the contract
    first = std::move(second);
    EXPECT_EQ(first.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, ClosesOnExec) {
  EXPECT_EQ(fcntl(open_file("/dev/null", O_RDONLY).get(), F_GETFD), FD_CLOEXEC);
}

TEST(Descriptor, FailureKeepsItsReason) {
  errno = 0;
  EXPECT_FALSE(open_file("/nowhere/at/all", O_RDONLY));
  EXPECT_EQ(errno, ENOENT);
  errno = EMFILE;
  EXPECT_FALSE(own_descriptor(-1));
  EXPECT_EQ(errno, EMFILE);
}

TEST(Descriptor, NoneTakesAStandardNumber) {
  EXPECT_EQ(in_daemon([] {
              const Descriptor one = open_file("/dev/null", O_WRONLY);
              const Descriptor another = open_file("/dev/null", O_RDONLY);
              const bool standard = is_open(0) || is_open(1) || is_open(2);
              const bool close_on_exec = fcntl(one.get(), F_GETFD) == FD_CLOEXEC;
              return one.get() > 2 && another.get() > 2 && !standard && close_on_exec ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace espalier
