#include "runtime/failure/recent_calls.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace espalier::runtime {
namespace {

using machine::CallFacts;

constexpr CallFacts sum_of_ints = {Collective::allreduce, 0, 16, reduce::first_operation_code};
constexpr CallFacts barrier = {Collective::barrier};

SentCalls calls_of(int number, const CallFacts& call = sum_of_ints) {
  SentCalls calls;
  for (int i = 0; i < number; ++i) calls.add(call);
  return calls;
}

TEST(RecentCalls, EqualCallsDoNotDiffer) {
  for (const int number : {0, 1, 15, 16, 17, 100})
    for (const int ahead : {0, 1, 16, 40}) {
      EXPECT_FALSE(calls_of(number).first_difference(calls_of(number + ahead))) << number << " " << ahead;
      EXPECT_FALSE(calls_of(number + ahead).first_difference(calls_of(number))) << number << " " << ahead;
    }
}

TEST(RecentCalls, TheFirstDifferenceCounts) {
  for (const int before : {0, 1, 30}) {
    SentCalls mine = calls_of(before), theirs = mine;
    mine.add(barrier);
    theirs.add(sum_of_ints);
    mine.add(sum_of_ints);
    theirs.add(barrier);
    mine.add(barrier);  // the other rank is a call behind
    const auto difference = mine.first_difference(theirs);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->ago, 2u);
    EXPECT_EQ(difference->mine, barrier);
    EXPECT_EQ(difference->theirs, sum_of_ints);
    EXPECT_EQ(theirs.first_difference(mine)->ago, 1u);
    EXPECT_NE(mine.fingerprint(), theirs.fingerprint());
  }
}

TEST(RecentCalls, EachFactCounts) {
  const CallFacts call = {Collective::reduce, 3, std::uint64_t{1} << 40, reduce::first_operation_code};
  for (const CallFacts& other :
       {CallFacts{Collective::bcast, 3, std::uint64_t{1} << 40, reduce::first_operation_code},
        CallFacts{Collective::reduce, 2, std::uint64_t{1} << 40, reduce::first_operation_code},
        CallFacts{Collective::reduce, 3, (std::uint64_t{1} << 40) + 1, reduce::first_operation_code},
        CallFacts{Collective::reduce, 3, std::uint64_t{1} << 40, reduce::user_operation}}) {
    const auto difference = calls_of(1, call).first_difference(calls_of(1, other));
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->mine, call);
    EXPECT_EQ(difference->theirs, other);
  }
}

// Two ranks that are so far apart that no call is kept of both.
TEST(RecentCalls, WhatIsNotKeptOfBothIsNotCompared) {
  SentCalls behind = calls_of(3), ahead = calls_of(3 + 16, barrier);
  EXPECT_FALSE(behind.first_difference(ahead));
  EXPECT_FALSE(ahead.first_difference(behind));
}

TEST(RecentCalls, ARankThatIsAheadKeepsMore) {
  OwnCalls ahead;
  SentCalls behind;
  ahead.add(barrier);
  behind.add(sum_of_ints);
  for (std::uint64_t i = 0; i < 255; ++i) ahead.add(barrier);
  ASSERT_TRUE(ahead.first_difference(behind));
  EXPECT_EQ(ahead.first_difference(behind)->ago, 255u);
  EXPECT_FALSE(SentCalls(ahead).first_difference(behind));
  EXPECT_EQ(SentCalls(ahead).fingerprint(), ahead.fingerprint());
  EXPECT_FALSE(SentCalls(ahead).first_difference(ahead));
  ahead.add(barrier);
  EXPECT_FALSE(ahead.first_difference(behind)) << "no longer kept";
}

TEST(RecentCalls, RubbishIsNoCalls) {
  EXPECT_TRUE(calls_of(20).is_valid());
  SentCalls rubbish;
  std::memset(static_cast<void*>(&rubbish), 0xFF, sizeof rubbish);
  EXPECT_FALSE(rubbish.is_valid());
}

}  // namespace
}  // namespace espalier::runtime
