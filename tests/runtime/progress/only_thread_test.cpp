#include "runtime/progress/only_thread.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace espalier::runtime {
namespace {

struct OneThread {
  OneThread() { OnlyThread::is_this_one(); }
  ~OneThread() { OnlyThread::is_none(); }
};

TEST(OnlyThread, CountsAlike) {
  std::atomic<unsigned> alone{4}, among{4};
  std::atomic<int> left{1};
  const OneThread only;
  EXPECT_EQ(add_in_call(alone, 2u), 6u);
  EXPECT_EQ(add_in_call(alone, 0 - 2u), 4u);
  EXPECT_EQ(add_in_call(left, -1), 0);
  OnlyThread::is_none();
  EXPECT_EQ(add_in_call(among, 2u), 6u);
  EXPECT_EQ(add_in_call(among, 0 - 2u), 4u);
}

TEST(OnlyThread, ExchangesAlike) {
  int first = 0, second = 0;
  std::atomic<int*> pointer{&first};
  {
    const OneThread only;
    EXPECT_EQ(exchange_in_call(pointer, &second), &first);
  }
  EXPECT_EQ(exchange_in_call<int>(pointer, nullptr), &second);
  EXPECT_EQ(pointer.load(), nullptr);
}

TEST(OnlyThread, ThreadsLoseNoCount) {
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10'000; ++turn) add_in_call(count, 1);
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(count.load(), 40'000);
}

}  // namespace
}  // namespace espalier::runtime
