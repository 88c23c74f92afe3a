#include "runtime/across/streams.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace espalier::runtime::across {
namespace {

machine::CallFacts bcast_of(std::uint64_t bytes) { return {Collective::bcast, 0, bytes}; }

TEST(Streams, CallsOfEachAreCountedByThemselves) {
  Streams streams;
  EXPECT_EQ(streams.begin(nonblocking_stream, bcast_of(8)), 1u);
  EXPECT_EQ(streams.begin(nonblocking_stream, bcast_of(16)), 2u);
  EXPECT_EQ(streams.begin(meetings_stream, bcast_of(8)), 1u);
  streams.note_blocking(7);
  const Position position = streams.position();
  EXPECT_EQ(position.blocking, 7u);
  EXPECT_EQ(position.nonblocking, 2u);
  EXPECT_EQ(position.prepared, 1u);
}

TEST(Streams, TheLastCallsAreKnown) {
  Streams streams;
  for (std::uint64_t bytes = 1; bytes <= 20; ++bytes) streams.begin(2, bcast_of(bytes));
  EXPECT_FALSE(streams.find(2, 1));
  EXPECT_FALSE(streams.find(2, 4));
  for (std::uint64_t call = 5; call <= 20; ++call) {
    const auto found = streams.find(2, call);
    ASSERT_TRUE(found) << call;
    EXPECT_EQ(found->facts, bcast_of(call));
  }
  EXPECT_FALSE(streams.find(2, 21));
  EXPECT_FALSE(streams.find(3, 1));
}

// So letters of later calls show a difference that no letter told.
TEST(Streams, TheHistoryDependsOnAllCallsBefore) {
  Streams a, b;
  a.begin(2, bcast_of(8));
  b.begin(2, bcast_of(16));
  a.begin(2, bcast_of(4));
  b.begin(2, bcast_of(4));
  EXPECT_EQ(a.find(2, 2)->facts, b.find(2, 2)->facts);
  EXPECT_NE(a.find(2, 2)->history, b.find(2, 2)->history);
}

TEST(Streams, OfOneThatIsClosedTheNumberOfCallsIsKnown) {
  Streams streams;
  streams.begin(2, bcast_of(8));
  streams.fail(2, {1, "why", false});
  streams.close(2);
  EXPECT_TRUE(streams.is_closed(2));
  EXPECT_EQ(streams.begun(2), 1u);
  EXPECT_FALSE(streams.find(2, 1));
  EXPECT_EQ(streams.failure(2, 1), nullptr);
}

// Each persistent call has a stream: a program may make and free any number.
TEST(Streams, OfOneThatWasClosedLongAgoNothingIsKept) {
  Streams streams;
  for (int stream = 2; stream < 5000; ++stream) {
    streams.begin(stream, bcast_of(8));
    streams.close(stream);
  }
  EXPECT_EQ(streams.begun(4999), 1u);
  EXPECT_EQ(streams.begun(2), std::numeric_limits<std::uint64_t>::max()) << "nothing is awaited of it";
  EXPECT_EQ(streams.begun(5000), 0u);
}

TEST(Streams, TheFirstReasonStaysAndTheEarliestCallCounts) {
  Streams streams;
  EXPECT_EQ(streams.failure(2, 9), nullptr);
  EXPECT_TRUE(streams.fail(2, {5, "first", true}));
  EXPECT_FALSE(streams.fail(2, {6, "later", false})) << "it is known";
  EXPECT_EQ(streams.failure(2, 4), nullptr);
  EXPECT_TRUE(streams.fail(2, {3, "earlier", false}));
  ASSERT_NE(streams.failure(2, 3), nullptr);
  EXPECT_EQ(streams.failure(2, 3)->why, "first");
  EXPECT_TRUE(streams.failure(2, 3)->is_told);
  EXPECT_EQ(streams.failure(nonblocking_stream, 9), nullptr);
}

}  // namespace
}  // namespace espalier::runtime::across
