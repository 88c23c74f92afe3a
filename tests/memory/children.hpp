// Forked processes in a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace espalier::testing {

/// Forks; the child runs `body`, whose result is its exit code. Failed expectations in the child show in the
/// test's output and make the code 1. A child that hangs is ended by an alarm.
template <class Body>
pid_t fork_child(Body body) {
  const bool failed_before = ::testing::Test::HasFailure();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(180);
  int code = 1;
  try {
    code = body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "in a child: " << error.what();
  }
  if (!failed_before && ::testing::Test::HasFailure()) code = 1;
  std::fflush(nullptr);
  _exit(code);
}

/// In a child that is meant to end by a segmentation fault: it leaves no core file, and a sanitizer does not report it.
inline void expect_a_segmentation_fault() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGSEGV, SIG_DFL);
}

/// The exit code, or minus the signal that ended the child.
inline int end_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Espalier's names in /dev/shm that have come since this was made, and stay: jobs of others on the machine
/// may show theirs for the moment that it takes to start.
class ShmWatch {
 public:
  std::vector<std::string> left_behind() const {
    std::vector<std::string> fresh;
    for (int spin_limits = 0; spin_limits < 100; ++spin_limits) {
      const std::set<std::string> now = names();
      fresh.clear();
      std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(), std::back_inserter(fresh));
      if (fresh.empty()) break;
      usleep(20000);
    }
    return fresh;
  }

 private:
  static std::set<std::string> names() {
    std::set<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      if (entry.path().filename().string().starts_with("espalier-")) result.insert(entry.path().filename());
    return result;
  }
  std::set<std::string> before_ = names();
};

}  // namespace espalier::testing
