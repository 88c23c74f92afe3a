// The thread that advances nonblocking collectives: when it works, and that it ends.
#include "runtime/progress/progress_thread.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using testing::run_ranks;

std::atomic<int> left{0};  // how often there still is something to do
std::atomic<int> looks{0};

bool work() {
  ++looks;
  return left.fetch_sub(1) > 1;
}

std::chrono::microseconds settle() { return std::chrono::microseconds(10); }

void await_looks(int number) {
  for (int i = 0; looks < number && i < 10'000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(looks, number);
}

// In a process of its own each, since a process reads its settings once.
void in_process(const char* setting, void (*body)()) {
  testing::Board board(1);
  run_ranks(1, [&](int) {
    setenv("ESPALIER_PROGRESS", setting, 1);
    body();
  });
}

TEST(ProgressThread, WorksUntilThereIsNothingMoreAndAgainWhenItIsWoken) {
  in_process("thread", [] {
    ProgressThread& thread = ProgressThread::instance();
    left = 5;
    ASSERT_TRUE(thread.start(work, settle));
    await_looks(5);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(looks, 5);  // it sleeps
    left = 3;
    thread.wake();
    await_looks(8);
    thread.stop();
    EXPECT_EQ(looks, 8);
  });
}

TEST(ProgressThread, EndsWhileThereIsSomethingToDoAndBeginsAnew) {
  in_process("thread", [] {
    ProgressThread& thread = ProgressThread::instance();
    for (int turn = 0; turn < 3; ++turn) {
      left = 1'000'000'000;
      looks = 0;
      ASSERT_TRUE(thread.start(work, settle));
      ASSERT_TRUE(thread.start(work, settle));  // it runs already
      await_looks(2);
      thread.stop();
      thread.stop();
    }
  });
}

TEST(ProgressThread, IsThereWhenItIsWanted) {
  in_process("off", [] {
    EXPECT_FALSE(ProgressThread::is_wanted());
    EXPECT_FALSE(ProgressThread::instance().start(work, settle));
    ProgressThread::instance().stop();
  });
}

}  // namespace
}  // namespace espalier::runtime
