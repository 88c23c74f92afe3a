#include "runtime/liveness.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <thread>

#include "tests/memory/children.hpp"

namespace espalier::runtime {
namespace {

using testing::end_of;
using testing::fork_child;

TEST(Liveness, ThisProcessRuns) {
  const ProcessMark mark = own_mark();
  EXPECT_EQ(mark.process, getpid());
  EXPECT_GT(mark.started, 0u);
  EXPECT_EQ(liveness_of(mark), Liveness::runs);
}

TEST(Liveness, AProcessWithThatNumberThatStartedAtAnotherTimeIsAnother) {
  ProcessMark mark = own_mark();
  ++mark.started;
  EXPECT_EQ(liveness_of(mark), Liveness::ended);
}

// Its mark crosses a pipe; then it waits to be ended.
struct Child {
  Child() {
    EXPECT_EQ(pipe(ends), 0);
    process = fork_child([&] {
      prctl(PR_SET_NAME, "a (b) R 1 2");  // what is looked for stands behind such a name
      const ProcessMark mine = own_mark();
      if (write(ends[1], &mine, sizeof mine) != sizeof mine) return 1;
      for (;;) pause();
    });
    EXPECT_EQ(read(ends[0], &mark, sizeof mark), static_cast<ssize_t>(sizeof mark));
  }
  ~Child() {
    for (const int end : ends) close(end);
  }
  int ends[2];
  pid_t process;
  ProcessMark mark;
};

TEST(Liveness, AChildRunsUntilItIsKilled) {
  const Child child;
  EXPECT_EQ(child.mark.process, child.process);
  EXPECT_EQ(liveness_of(child.mark), Liveness::runs);
  kill(child.process, SIGSTOP);
  EXPECT_EQ(liveness_of(child.mark), Liveness::runs) << "it is stopped, not gone";
  kill(child.process, SIGKILL);
  siginfo_t end;
  waitid(P_PID, static_cast<id_t>(child.process), &end, WEXITED | WNOWAIT);
  EXPECT_EQ(liveness_of(child.mark), Liveness::ended) << "its parent has not asked for it yet";
  EXPECT_EQ(end_of(child.process), -SIGKILL);
  EXPECT_EQ(liveness_of(child.mark), Liveness::ended);
}

}  // namespace
}  // namespace espalier::runtime
