// Statistics are asked for once a process, so each test of them has a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace espalier::runtime::statistics {

/// Runs body() in a child with that ESPALIER_STATS; 0: it has ended well. `body` may end it before.
template <class Body>
int status_of_child(Body body, const char* statistics = "1") {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ESPALIER_STATS", statistics, 1);
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace espalier::runtime::statistics
