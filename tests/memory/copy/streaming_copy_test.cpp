#include "memory/copy/streaming_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace espalier::memory {
namespace {

TEST(StreamingCopy, CopiesWhatItIsToldWhereverItLies) {
  std::vector<char> source(9000), target(source.size() + 200);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 31 + i / 251);
  for (const std::size_t length : {0UL, 1UL, 63UL, 64UL, 65UL, 127UL, 4096UL, 8191UL})
    for (const std::size_t from : {0UL, 1UL, 17UL, 64UL})
      for (const std::size_t to : {0UL, 1UL, 15UL, 16UL, 63UL, 64UL}) {
        std::fill(target.begin(), target.end(), 'x');
        stream_copy(target.data() + 64 + to, source.data() + from, length);
        settle_streams();
        EXPECT_TRUE(
            std::equal(source.begin() + from, source.begin() + from + length, target.begin() + 64 + to));
        EXPECT_EQ(target[63 + to], 'x');
        EXPECT_EQ(target[64 + to + length], 'x');
      }
}

TEST(StreamingCopy, OnlyTouchesWhatItFetchesMeanwhile) {
  std::vector<char> source(4096, 's'), target(source.size()), fetched(100, 'f');
  stream_copy(target.data(), source.data(), source.size(), fetched.data());  // more than there is of it
  settle_streams();
  EXPECT_EQ(source, target);
  EXPECT_EQ(fetched, std::vector<char>(100, 'f'));
}

// What was streamed and settled is seen by the rank that sees a flag that was set afterwards.
TEST(StreamingCopy, SettledBeforeAFlag) {
  constexpr std::size_t slot_bytes = 16384;
  constexpr int rounds = 2000;
  std::vector<char> source(slot_bytes), slot(slot_bytes);
  std::atomic<int> shown{0}, read{0};
  std::thread reader([&] {
    for (int round = 1; round <= rounds; ++round) {
      while (shown.load(std::memory_order_acquire) != round) std::this_thread::yield();
      EXPECT_EQ(std::count(slot.begin(), slot.end(), static_cast<char>(round)),
                static_cast<long>(slot_bytes));
      read.store(round, std::memory_order_release);
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    std::fill(source.begin(), source.end(), static_cast<char>(round));
    stream_copy(slot.data(), source.data(), slot_bytes);
    settle_streams();
    shown.store(round, std::memory_order_release);
    while (read.load(std::memory_order_acquire) != round) std::this_thread::yield();
  }
  reader.join();
}

TEST(StreamingCopy, IsChosen) {
  const std::size_t before = streaming_from;
  choose_streaming(true);
  EXPECT_TRUE(streams(4096) && !streams(4095));
  choose_streaming(false);
  EXPECT_FALSE(streams(std::size_t{1} << 40));
  streaming_from = before;
}

}  // namespace
}  // namespace espalier::memory
