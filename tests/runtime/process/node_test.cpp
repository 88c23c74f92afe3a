// What the processes of a node find out about each other when they meet.
#include "runtime/process/node.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/process/process.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using testing::Board;
using testing::bootstrap_of;
using testing::run_ranks;

constexpr int members = 5;

// Root looks at any process, so it becomes an ordinary user; a process that changes its user is hidden from
// others until it says otherwise.
void become_an_ordinary_user(bool hidden) {
  if (geteuid() == 0) {
    ASSERT_EQ(setuid(65534), 0);
  }
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, hidden ? 0 : 1), 0);
}

template <class Check>
void meet(int hidden, Check check) {
  Board board(members);
  run_ranks(members, [&](int rank) {
    become_an_ordinary_user(rank == hidden);
    board.meet();
    Process::instance().join(bootstrap_of(board, rank));
    check(*Process::instance().node());
    board.meet();
    Process::instance().leave();
  });
}

bool may_look_at_its_like() {
  Board board(2);
  int* told =
      static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  run_ranks(2, [&](int rank) {
    become_an_ordinary_user(false);
    board.meet();
    Process::instance().join(bootstrap_of(board, rank));
    if (rank == 0)
      *told = Process::instance().node()->single_copy() && Process::instance().node()->shared_heaps();
    board.meet();
    Process::instance().leave();
  });
  const bool may = *told != 0;
  munmap(told, 4096);
  return may;
}

TEST(NodeMeeting, ProcessesOfOneKindFindThatTheyMayLookAtEachOther) {
  if (!may_look_at_its_like()) GTEST_SKIP() << "this machine lets no process look at another";
  meet(-1, [](const NodeState& node) {
    EXPECT_TRUE(node.single_copy() && node.shared_heaps() && node.sees_processes());
  });
}

// Each tries the next one only: wherever the one lies that hides, all must learn it.
TEST(NodeMeeting, OneThatHidesIsFoundWhereverItLies) {
  for (int hidden = 0; hidden < members; ++hidden)
    meet(hidden, [&](const NodeState& node) {
      ASSERT_NE(node.arena(), nullptr) << node.refusal();
      EXPECT_FALSE(node.single_copy()) << "rank " << node.rank() << ", hidden is " << hidden;
      EXPECT_FALSE(node.shared_heaps()) << "rank " << node.rank() << ", hidden is " << hidden;
      EXPECT_TRUE(node.sees_processes()) << "rank " << node.rank() << ", hidden is " << hidden;
    });
}

}  // namespace
}  // namespace espalier::runtime
