#include "runtime/failure/node_failure.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace espalier::runtime {
namespace {

std::string said(const NodeFailure& failure, std::uint64_t call = 7) {
  try {
    failure.check(call);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NodeFailure, IsHeardByAllWhoShareTheLine) {
  memory::FlagLine line{};
  NodeFailure mine(line), theirs(line);
  EXPECT_EQ(said(theirs), "");
  mine.tell(7, "rank 4: no tree");
  EXPECT_NE(said(theirs).find("rank 4: no tree"), std::string::npos) << said(theirs);
  EXPECT_NE(said(mine).find("make a new communicator"), std::string::npos) << said(mine);
}

TEST(NodeFailure, TheFirstWordStays) {
  memory::FlagLine line{};
  NodeFailure failure(line);
  failure.tell(7, "rank 1: first");
  failure.tell(7, "rank 2: second");
  EXPECT_NE(said(failure).find("rank 1: first"), std::string::npos) << said(failure);
  EXPECT_EQ(said(failure).find("second"), std::string::npos);
}

// The rank that failed has done its part of the calls before.
TEST(NodeFailure, ARankInAnEarlierCallGoesOn) {
  memory::FlagLine line{};
  NodeFailure failure(line);
  failure.tell(7, "rank 1: no tree");
  EXPECT_EQ(said(failure, 6), "");
  EXPECT_NE(said(failure, 7), "");
  EXPECT_NE(said(failure, 8), "");
}

// A rank that is a call ahead may be the first to tell.
TEST(NodeFailure, TheFirstOfTheFailedCallsCounts) {
  memory::FlagLine line{};
  NodeFailure failure(line);
  failure.tell(8, "rank 1: ahead");
  EXPECT_EQ(said(failure, 7), "");
  failure.tell(7, "rank 2: behind");
  failure.tell(9, "rank 3: far ahead");
  EXPECT_NE(said(failure, 7).find("rank 1: ahead"), std::string::npos);
  EXPECT_EQ(said(failure, 6), "");
}

TEST(NodeFailure, ATruncationIsOfOneRankInOneCall) {
  memory::FlagLine line{};
  NodeFailure failure(line);
  EXPECT_FALSE(failure.tells_truncation(7, 0));
  failure.tell(7, "too much", 2);
  EXPECT_EQ(failure.told(7), "too much");
  EXPECT_TRUE(failure.tells_truncation(7, 2));
  EXPECT_FALSE(failure.tells_truncation(7, 1));
  EXPECT_FALSE(failure.tells_truncation(8, 2));
  failure.tell(6, "another reason");
  EXPECT_FALSE(failure.tells_truncation(6, 2)) << "the text is of a later call";
  EXPECT_FALSE(NodeFailure().tells_truncation(7, 2));
}

TEST(NodeFailure, NoRankIsTruncatedByAnotherReason) {
  memory::FlagLine line{};
  NodeFailure failure(line);
  failure.tell(7, "rank 1: no tree");
  for (const int rank : {NodeFailure::no_rank + 1, 1, 2}) EXPECT_FALSE(failure.tells_truncation(7, rank));
}

TEST(NodeFailure, ALongReasonIsCut) {
  memory::FlagLine line{};
  NodeFailure failure(line);
  failure.tell(7, std::string(1000, 'x'));
  const std::string kept = "(" + std::string(NodeFailure::longest, 'x') + ")";
  EXPECT_NE(said(failure).find(kept), std::string::npos) << said(failure);
}

TEST(NodeFailure, AReasonWithoutAnEndIsCut) {
  memory::FlagLine line{};
  std::memset(line.payload, 'x', sizeof line.payload);
  line.step.store(2);
  EXPECT_EQ(NodeFailure(line).told(~std::uint64_t{0}), std::string(NodeFailure::longest, 'x'));
}

TEST(NodeFailure, RanksThatTellAtOnceLeaveOneWholeWord) {
  memory::FlagLine line{};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.emplace_back(
        [&line, rank] { NodeFailure(line).tell(7, std::string(50, static_cast<char>('a' + rank))); });
  for (std::thread& rank : ranks) rank.join();
  int found = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string word = "(" + std::string(50, static_cast<char>('a' + rank)) + ")";
    found += said(NodeFailure(line)).find(word) != std::string::npos;
  }
  EXPECT_EQ(found, 1);
}

TEST(NodeFailure, WithoutSharedMemoryNobodyHears) {
  NodeFailure failure;
  failure.tell(7, "alone");
  EXPECT_EQ(said(failure), "");
}

}  // namespace
}  // namespace espalier::runtime
