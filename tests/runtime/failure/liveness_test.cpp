#include "runtime/failure/liveness.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

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

// As after setuid() where /proc hides the processes of other users.
TEST(Liveness, AProcessThatProcHidesHasNotEnded) {
  const ProcessMark parent = own_mark();
  constexpr int not_allowed = 77;
  const pid_t child = fork_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("proc", "/proc", "proc", 0, "hidepid=2") != 0 ||
        // Nothing is hidden from root's group.
        setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
      return not_allowed;
    ProcessMark absent = parent;
    absent.process = 0x3fffff;  // no process has so high a number
    return liveness_of(parent) == Liveness::unknown && liveness_of(absent) == Liveness::ended ? 0 : 1;
  });
  const int end = end_of(child);
  if (end == not_allowed) GTEST_SKIP() << "needs root, and may mount nothing here";
  EXPECT_EQ(end, 0);
}

}  // namespace
}  // namespace espalier::runtime
