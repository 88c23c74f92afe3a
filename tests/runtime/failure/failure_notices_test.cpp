#include "runtime/failure/failure_notices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/network/mailboxes.hpp"

namespace espalier::runtime {
namespace {

constexpr int tag = 15;

/// Ranks 0 to 2 of a communicator are processes 0, 2 and 3 of a job of four.
struct NetworkJob {
  FailureNotices notices_of(int rank) {
    return FailureNotices(boxes.of(processes[static_cast<std::size_t>(rank)]), processes, rank, tag);
  }
  testing::Mailboxes boxes{4};
  const std::vector<int> processes{0, 2, 3};
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
  FailureNotices(job.boxes.of(1), earlier, 0, tag).send(7, "rank 0: long ago");
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

}  // namespace
}  // namespace espalier::runtime
