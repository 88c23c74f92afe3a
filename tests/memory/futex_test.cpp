#include "memory/futex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace espalier::memory {
namespace {

constexpr std::uint32_t an_hour = 3'600'000'000U;

TEST(Futex, ANewValueIsNotWaitedFor) {
  std::uint32_t word = 2;
  futex_wait(&word, 1, an_hour);
}

TEST(Futex, ASleepEndsByItself) {
  std::uint32_t word = 1;
  futex_wait(&word, 1, 1000);
  EXPECT_EQ(word, 1U);
}

// A waiter that is late finds the new value.
TEST(Futex, AllAreWoken) {
  std::atomic<std::uint32_t> word{1};
  auto* const address = reinterpret_cast<std::uint32_t*>(&word);
  const auto sleep = [&] {
    while (word == 1) futex_wait(address, 1, an_hour);
  };
  std::thread one(sleep), other(sleep);
  word = 2;
  futex_wake_all(address);
  one.join();
  other.join();
}

}  // namespace
}  // namespace espalier::memory
