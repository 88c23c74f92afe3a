#include "memory/copy/slot_writer.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::memory {
namespace {

/// Every copy that is timed takes `ns_a_copy` by it.
struct FakeClock : std::chrono::steady_clock {
  static time_point now() { return time = time + std::chrono::nanoseconds(ns_a_copy); }
  inline static time_point time{};
  inline static long ns_a_copy = 0;
};

class ASlotWriter : public ::testing::Test {
 protected:
  using Writer = SlotWriter<FakeClock>;
  static constexpr std::size_t bytes = 4096;
  static constexpr long lines = bytes / 64, fast = lines * 2, slow = lines * 20;

  ASlotWriter() {
    streaming_from = 4096;
    streams_always = false;
    FakeClock::ns_a_copy = fast;
    for (std::size_t i = 0; i < bytes; ++i) source_[i] = static_cast<char>(i * 7);
  }
  ~ASlotWriter() override { streaming_from = from_, streams_always = always_; }

  /// Copies so often, each checked, and counts those that were streamed.
  int streamed_of(int copies, std::size_t length = bytes) {
    int streamed = 0;
    for (int i = 0; i < copies; ++i) {
      std::fill(target_.begin(), target_.end(), 'x');
      streamed += writer_.copy(target_.data(), source_.data(), length);
      settle_streams();
      EXPECT_TRUE(std::equal(source_.begin(), source_.begin() + static_cast<long>(length), target_.begin()));
    }
    return streamed;
  }

 private:
  const std::size_t from_ = streaming_from;
  const bool always_ = streams_always;
  Writer writer_;
  std::vector<char> source_ = std::vector<char>(bytes), target_ = std::vector<char>(bytes);
};

TEST_F(ASlotWriter, NeverStreamsWhileLinesComeFast) { EXPECT_EQ(streamed_of(1000), 0); }

TEST_F(ASlotWriter, DoesNotJudgeTheFirstWayAroundARing) {
  FakeClock::ns_a_copy = slow;
  EXPECT_EQ(streamed_of(Writer::first_look), 0);
  FakeClock::ns_a_copy = fast;
  EXPECT_EQ(streamed_of(100), 0);
}

TEST_F(ASlotWriter, StreamsForAWhileWhereLinesComeSlowlyThenLooksAgain) {
  FakeClock::ns_a_copy = slow;
  EXPECT_EQ(streamed_of(Writer::first_look + 1), 0);  // the last of them is the one it looks at
  EXPECT_EQ(streamed_of(Writer::stream_at_once), Writer::stream_at_once);
  EXPECT_EQ(streamed_of(1 + Writer::stream_at_once), Writer::stream_at_once);  // still slow: one copy says so
  FakeClock::ns_a_copy = fast;
  EXPECT_EQ(streamed_of(1000), 0);
}

TEST_F(ASlotWriter, LooksAtOneCopyOfEight) {
  EXPECT_EQ(streamed_of(Writer::first_look + 1), 0);
  FakeClock::ns_a_copy = slow;
  EXPECT_EQ(streamed_of(Writer::look_at_one_of), 0);
  EXPECT_EQ(streamed_of(1), 1);
}

TEST_F(ASlotWriter, ShortCopiesAreNeitherTimedNorStreamed) {
  FakeClock::ns_a_copy = slow;
  EXPECT_EQ(streamed_of(1000, bytes - 1), 0);
}

TEST_F(ASlotWriter, StreamsAllWhenTold) {
  streams_always = true;
  EXPECT_EQ(streamed_of(300), 300);
  EXPECT_EQ(streamed_of(10, bytes - 1), 0);
}

}  // namespace
}  // namespace espalier::memory
