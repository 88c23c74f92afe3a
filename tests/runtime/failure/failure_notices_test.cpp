#include "runtime/failure/failure_notices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/network/mailboxes.hpp"

namespace espalier::runtime {
namespace {

constexpr int tag = 15;

/// Ranks 0 to 2 of a communicator are processes 0, 2 and 3 of a job of four.
struct NetworkJob {
  FailureNotices notices_of(int rank, std::uint32_t use = 1) {
    const auto index = static_cast<std::size_t>(rank);
    return FailureNotices(
        boxes.of(processes[index]), {processes, rank, tag, use}, calls[index],
        [this, index] { return awaited[index]; }, [this] { return node_peers; });
  }
  testing::Mailboxes boxes{4};
  const std::vector<int> processes{0, 2, 3};
  std::array<OwnCalls, 3> calls;
  std::array<std::vector<int>, 3> awaited;
  NodePeers node_peers;
};

/// What a rank hears in a wait of some tens of milliseconds.
std::string heard(FailureNotices& notices, NodeFailure& node, std::uint64_t call = 7) {
  try {
    for (int i = 0; i < 20; ++i) {
      for (int looks = 0; looks < 16; ++looks) notices.look(call, node);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  } catch (const AlreadyTold& told) {
    return told.what();
  }
  return "";
}

TEST(FailureNotices, AllOthersHearWhyARankHasFailed) {
  NetworkJob job;
  job.notices_of(1).send(7, "rank 1: no memory");
  for (const int rank : {0, 2}) {
    memory::FlagLine line{};
    NodeFailure node(line);
    FailureNotices notices = job.notices_of(rank);
    EXPECT_NE(heard(notices, node).find("rank 1: no memory"), std::string::npos) << rank;
    EXPECT_EQ(NodeFailure(line).told(7), "rank 1: no memory") << "for the other ranks of the node";
  }
}

// The rank that failed has done its part of the calls before.
TEST(FailureNotices, ARankInAnEarlierCallGoesOn) {
  NetworkJob job;
  job.notices_of(1).send(8, "rank 1: no memory");
  memory::FlagLine line{};
  NodeFailure node(line);
  FailureNotices notices = job.notices_of(0);
  EXPECT_EQ(heard(notices, node, 7), "");
  EXPECT_EQ(NodeFailure(line).told(8), "rank 1: no memory") << "the other ranks of the node may be further";
  NodeFailure nothing_shared;
  EXPECT_NE(heard(notices, nothing_shared, 8).find("rank 1: no memory"), std::string::npos);
}

TEST(FailureNotices, ALaterNoticeOfAnEarlierCallCounts) {
  NetworkJob job;
  job.notices_of(1).send(8, "rank 1: ahead");
  NodeFailure nothing_shared;
  FailureNotices notices = job.notices_of(0);
  EXPECT_EQ(heard(notices, nothing_shared, 7), "");
  job.notices_of(2).send(7, "rank 2: behind");
  EXPECT_NE(heard(notices, nothing_shared, 7).find("rank 2: behind"), std::string::npos);
}

TEST(FailureNotices, WithoutANoticeThereIsNothing) {
  NetworkJob job;
  NodeFailure node;
  FailureNotices notices = job.notices_of(0);
  EXPECT_EQ(heard(notices, node), "");
}

TEST(FailureNotices, OneOfAnEarlierCommunicatorIsIgnored) {
  NetworkJob job;
  const std::vector<int> earlier = {1, 0};
  const OwnCalls none;
  FailureNotices(
      job.boxes.of(1), {earlier, 0, tag, 1}, none, [] { return std::vector<int>(); },
      [] { return NodePeers(); })
      .send(7, "rank 0: long ago");
  job.notices_of(2, 8).send(7, "rank 2: of the same ranks, long ago");
  NodeFailure node;
  FailureNotices notices = job.notices_of(0);
  EXPECT_EQ(heard(notices, node), "");
  job.notices_of(2).send(7, "rank 2: now");
  EXPECT_NE(heard(notices, node).find("rank 2: now"), std::string::npos);
}

TEST(FailureNotices, ATransportThatHasFailedIsLeftAlone) {
  NetworkJob job;
  job.boxes.break_tag(tag);
  EXPECT_NO_THROW(job.notices_of(0).send(7, "rank 0: the network broke"));
}

TEST(FailureNotices, ALongReasonIsCut) {
  NetworkJob job;
  job.notices_of(1).send(7, std::string(5000, 'x'));
  NodeFailure node;
  FailureNotices notices = job.notices_of(2);
  const std::string said = heard(notices, node);
  EXPECT_EQ(std::count(said.begin(), said.end(), 'x'), 512) << said;
}

constexpr machine::CallFacts a_barrier = {Collective::barrier}, a_bcast = {Collective::bcast, 2, 64};

/// Both ranks look until one of them throws, or for `most`: what it says and from which call on it counts.
struct Found {
  std::string why;
  std::uint64_t first_call;
};
std::optional<Found> compared(FailureNotices& a, std::uint64_t in_a, FailureNotices& b, std::uint64_t in_b,
                              std::chrono::milliseconds most = std::chrono::milliseconds(5000)) {
  NodeFailure nothing_shared;
  const auto end = std::chrono::steady_clock::now() + most;
  try {
    while (std::chrono::steady_clock::now() < end) {
      a.look(in_a, nothing_shared);
      b.look(in_b, nothing_shared);
    }
  } catch (const AlreadyTold&) {
    throw;
  } catch (const OutOfStep& error) {
    return Found{error.what(), error.first_call()};
  }
  return std::nullopt;
}

// Rank 0 awaits a message of rank 2, which waits for another rank in another call.
TEST(FailureNotices, ARankThatWaitsLongComparesItsCallsWithThoseItAwaits) {
  NetworkJob job;
  job.awaited[0] = {2};
  for (OwnCalls& calls : job.calls) calls.add(a_barrier);
  job.calls[0].add(a_barrier);
  job.calls[2].add(a_bcast);
  FailureNotices zero = job.notices_of(0), two = job.notices_of(2);
  const auto found = compared(zero, 2, two, 2);
  ASSERT_TRUE(found);
  EXPECT_NE(found->why.find("in this call rank 2 wanted bcast of 64 bytes with root 2, rank 0 barrier;"),
            std::string::npos)
      << found->why;
  EXPECT_EQ(found->first_call, 2u);
}

TEST(FailureNotices, ADifferenceInAnEarlierCallFailsThatOne) {
  NetworkJob job;
  job.awaited[0] = {2};
  job.calls[0].add(a_barrier);
  job.calls[2].add(a_bcast);  // rank 2 waits for no message in it, and goes on
  job.calls[2].add(a_barrier);
  FailureNotices zero = job.notices_of(0), two = job.notices_of(2);
  const auto found = compared(zero, 1, two, 2);
  ASSERT_TRUE(found);
  EXPECT_NE(found->why.find("in the call before rank 2 wanted bcast"), std::string::npos) << found->why;
  EXPECT_EQ(found->first_call, 1u);
}

TEST(FailureNotices, ARankThatIsLateIsWaitedFor) {
  NetworkJob job;
  job.awaited[0] = {2};
  for (OwnCalls& calls : job.calls) calls.add(a_bcast);
  job.calls[0].add(a_barrier);
  FailureNotices zero = job.notices_of(0), two = job.notices_of(2);
  EXPECT_FALSE(compared(zero, 2, two, 1, std::chrono::milliseconds(1200)));
}

// In MPICH over TCP a message to a process that has ended may crash the sender.
TEST(FailureNotices, NothingIsSentToARankOfTheNodeThatHasEnded) {
  NetworkJob job;
  ProcessMark ended = own_mark();
  ++ended.started;
  job.node_peers.be(own_mark());
  job.node_peers.add(1, ended);
  job.node_peers.add(2, own_mark());
  FailureNotices notices = job.notices_of(0);
  notices.send(7, "rank 0: rank 1 has ended");
  EXPECT_EQ(job.boxes.messages(), 1u) << "one for rank 2";

  job.awaited[0] = {1};
  job.calls[0].add(a_barrier);
  FailureNotices two = job.notices_of(2);
  EXPECT_FALSE(compared(notices, 1, two, 1, std::chrono::milliseconds(1000)));
  EXPECT_EQ(job.boxes.messages(), 1u);
}

TEST(FailureNotices, ARankThatNeverWaitsHearsInItsCalls) {
  NetworkJob job;
  job.notices_of(1).send(7, "rank 1: no memory");
  NodeFailure nothing_shared;
  FailureNotices notices = job.notices_of(0);
  const auto make_calls = [&] {
    for (std::uint64_t call = 7; call < 2000; ++call) {
      notices.look_in_call(call, nothing_shared);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  };
  EXPECT_THROW(make_calls(), AlreadyTold);
}

TEST(FailureNotices, QuestionsOfAnEarlierCommunicatorAreIgnored) {
  NetworkJob job;
  job.awaited[0] = {2};
  job.calls[0].add(a_barrier);
  job.calls[2].add(a_bcast);
  FailureNotices earlier = job.notices_of(0, 8), two = job.notices_of(2, 9);
  EXPECT_FALSE(compared(earlier, 1, two, 1, std::chrono::milliseconds(1200)));
}

}  // namespace
}  // namespace espalier::runtime
