#include "network/window/notifications.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace espalier::network {
namespace {

struct Words {
  explicit Words(int ids) : values(static_cast<std::size_t>(ids)), words(Landings::words(ids)) {}
  std::vector<Notifications::Value> values;
  std::vector<Landings::Word> words;
  Landings landings{words.data(), static_cast<int>(values.size())};
  Notifications all{values.data(), static_cast<int>(values.size()), landings};
};

TEST(Notifications, SetByTheNodeOrLeftByAHost) {
  Words w(4);
  EXPECT_EQ(w.all.find(0, 4), -1);
  w.landings.arrived()[3] = Landings::word(1, 7);
  EXPECT_EQ(w.all.find(0, 4), 3);
  EXPECT_EQ(w.all.find(0, 3), -1);
  w.all.set(1, 9);
  EXPECT_EQ(w.all.find(0, 4), 1);
  EXPECT_EQ(w.all.test(3), 7u);
  EXPECT_EQ(w.all.reset(3), 7u);
  EXPECT_EQ(w.all.test(3), 0u);
  EXPECT_EQ(w.all.reset(3), 0u);
  EXPECT_EQ(w.all.reset(1), 9u);
  EXPECT_EQ(w.all.find(0, 4), -1);
}

// What comes later overwrites, wherever both are from, also where no rank has reset the first.
TEST(Notifications, WhatLandsAndWhatTheNodeSetsOverwriteEachOther) {
  Words w(1);
  for (std::uint32_t n = 1; n < 100; ++n) {
    w.all.set(0, 2 * n);
    EXPECT_EQ(w.all.test(0), 2 * n);
    w.landings.arrived()[0] = Landings::word(n, 2 * n + 1);
    EXPECT_EQ(w.all.test(0), 2 * n + 1);
    EXPECT_EQ(w.all.find(0, 1), 0);
  }
  EXPECT_EQ(w.all.reset(0), 199u);
  EXPECT_EQ(w.all.test(0), 0u);
  w.landings.arrived()[0] = Landings::word(100, 5);
  w.all.set(0, 6);
  EXPECT_EQ(w.all.reset(0), 6u);
  EXPECT_EQ(w.all.test(0), 0u);
}

// A host that stores everything twice, and a rank of the node, write the same id: each value that is taken is
// one that was written, none twice, and the last of all stays.
TEST(Notifications, TwoThatOverwriteEachOtherAndOneThatResets) {
  constexpr std::uint32_t times = 20000;
  Words w(1);
  std::atomic<bool> done{false};
  std::vector<int> seen(2 * times + 2);
  std::thread taker([&] {
    while (!done.load())
      if (const std::uint32_t value = w.all.reset(0)) ++seen[value];
  });
  std::thread setter([&] {
    for (std::uint32_t n = 1; n <= times; ++n) w.all.set(0, 2 * n);
  });
  for (std::uint32_t n = 1; n <= times; ++n)
    for (int twice = 0; twice < 2; ++twice)
      w.landings.arrived()[0].store(Landings::word(n, 2 * n + 1), std::memory_order_release);
  setter.join();
  done = true;
  taker.join();
  if (const std::uint32_t value = w.all.reset(0)) ++seen[value];
  EXPECT_EQ(w.all.reset(0), 0u);
  EXPECT_LE(*std::max_element(seen.begin(), seen.end()), 1);
  EXPECT_EQ(seen[2 * times] + seen[2 * times + 1] >= 1, true);
}

// What a memcpy of a host may do: the same word again, after it was taken.
TEST(Notifications, AStoreThatIsRepeatedBringsNothingAgain) {
  Words w(1);
  for (std::uint32_t n = 1; n < 100; ++n) {
    w.landings.arrived()[0] = Landings::word(n, 5);
    EXPECT_EQ(w.all.reset(0), 5u);
    w.landings.arrived()[0] = Landings::word(n, 5);
    EXPECT_EQ(w.all.test(0), 0u);
    EXPECT_EQ(w.all.reset(0), 0u);
  }
}

// A host that stores everything twice, and three threads that take.
TEST(Notifications, OfSeveralThatResetOneGetsTheValue) {
  constexpr std::uint32_t times = 20000;
  Words w(1);
  std::atomic<std::uint32_t> taken{0};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> takers;
  for (int i = 0; i < 3; ++i)
    takers.emplace_back([&] {
      while (taken.load() < times)
        if (const std::uint32_t value = w.all.reset(0)) {
          sum += value;
          ++taken;
        } else {
          std::this_thread::yield();
        }
    });
  for (std::uint32_t n = 1; n <= times; ++n) {
    w.landings.arrived()[0].store(Landings::word(n, n), std::memory_order_release);
    w.landings.arrived()[0].store(Landings::word(n, n), std::memory_order_release);
    while (taken.load() < n) std::this_thread::yield();
  }
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(taken.load(), times);
  EXPECT_EQ(sum.load(), std::uint64_t{times} * (times + 1) / 2);
}

}  // namespace
}  // namespace espalier::network
