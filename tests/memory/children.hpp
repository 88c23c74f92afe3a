// Forked processes in a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace espalier::testing {

/// Forks; the child runs `body`, whose result is its exit code. Failed expectations in the child show in the test's output
/// and make the code 1. A child that hangs is ended by an alarm.
template <class Body>
pid_t fork_child(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(60);
  int code = 1;
  try {
    code = body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "in a child: " << error.what();
  }
  if (::testing::Test::HasFailure()) code = 1;
  std::fflush(nullptr);
  _exit(code);
}

/// The exit code, or minus the signal that ended the child.
inline int end_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Espalier's names in /dev/shm.
inline std::vector<std::string> left_behind() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("espalier-")) names.push_back(entry.path().filename());
  return names;
}

}  // namespace espalier::testing
