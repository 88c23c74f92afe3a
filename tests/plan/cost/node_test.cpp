#include "plan/cost/node.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace espalier::plan {
namespace {

// Flags 100; copies 1 a byte, folds 2. Messages 1000 and 3 a byte.
NodeCosts costs() {
  NodeCosts result = {100, 1, 2, {}};
  result.messages.latency = 1000;
  result.messages.per_byte = 3;
  result.messages.fold_per_byte = 2;
  result.messages.copy_per_byte = 1;
  return result;
}

Plan plan(Algorithm algorithm, std::size_t chunk, const char* tree = "flat") {
  Plan result;
  result.algorithm = algorithm;
  result.chunk = chunk;
  result.gather_tree = result.release_tree = tree::parse_spec(tree);
  return result;
}

double shared(Collective collective, const Plan& plan, double bytes, int ranks = 4, int leaders = 1) {
  return shared_cost({collective, ranks, leaders}, plan, costs(), bytes);
}

double by_messages(Collective collective, double bytes, int ranks = 4) {
  return message_cost({collective, ranks, 1}, costs(), bytes);
}

TEST(CostNode, MeetingAroundTheLeader) {
  EXPECT_EQ(shared(Collective::barrier, plan(Algorithm::tree, 64), 0), 3 * 100 + 100)
      << "three lines fetched, one read by all";
  Plan written = plan(Algorithm::tree, 64);
  written.read_from_parent = false;
  EXPECT_EQ(shared(Collective::barrier, written, 0), 3 * 100 + 3 * 100) << "a line for each child";
  EXPECT_EQ(shared(Collective::barrier, plan(Algorithm::tree, 64, "chain"), 0), 3 * 100 + 3 * 100);
}

TEST(CostNode, Bcast) {
  EXPECT_EQ(shared(Collective::bcast, plan(Algorithm::tree, 1000), 500), 500 + 100 + 500);
  EXPECT_EQ(shared(Collective::bcast, plan(Algorithm::tree, 100), 500), 500 + 100 + 100) << "chunks overlap";
  EXPECT_EQ(shared(Collective::bcast, plan(Algorithm::single_copy, 100), 500), 100 + 500 + 100);
}

TEST(CostNode, Reduce) {
  // A copy by the leaves; flags and folds of three.
  EXPECT_EQ(shared(Collective::reduce, plan(Algorithm::tree, 1000), 500), 500 + 300 + 3 * 2 * 500);
  // Five chunks: the first as above, then the root's pace.
  EXPECT_EQ(shared(Collective::reduce, plan(Algorithm::tree, 100), 500), 100 + 300 + 600 + 4 * (300 + 600));
}

TEST(CostNode, ScanOfManyRanks) {
  // Flags both ways; four vectors to the root, which folds three; a result, and the node's total.
  EXPECT_EQ(shared(Collective::scan, plan(Algorithm::tree, 64), 500),
            3 * 100 + 100 + 4 * 500 + 3 * 1000 + 500 + 500);
  // Five chunks over three hops: a copy in, seven flags and folds of a chunk, a copy out, the node's total.
  EXPECT_EQ(shared(Collective::scan, plan(Algorithm::chain, 100), 500), 100 + 7 * (100 + 200) + 100 + 500);
}

TEST(CostNode, InGroups) {
  // Two groups of two: four flags. A group's part is copied once more.
  EXPECT_EQ(shared(Collective::allgatherv, plan(Algorithm::grouped, 1000), 800), 4 * 100 + 400 + 800);
  EXPECT_EQ(shared(Collective::reduce_scatter, plan(Algorithm::grouped, 1000), 800),
            4 * 100 + 4 * 800 + 3 * 1600);
  EXPECT_EQ(shared(Collective::allgatherv, plan(Algorithm::tree, 1000), 800), 3 * 100 + 100 + 2 * 800);
}

TEST(CostNode, Scan) {
  EXPECT_EQ(shared(Collective::scan, plan(Algorithm::exchange, 1000), 500), 500 + 3 * 100 + 3 * 1000 + 500);
  EXPECT_EQ(shared(Collective::scan, plan(Algorithm::central, 1000), 500), 500 + 5 * 100 + 3 * 1000 + 500);
  EXPECT_EQ(shared(Collective::exscan, plan(Algorithm::sliced, 1000), 400), 800 + 2 * 300 + 3 * 200 + 400);
}

TEST(CostNode, BlocksToAndFromTheLeader) {
  EXPECT_EQ(shared(Collective::gather, plan(Algorithm::direct, 1000), 500), 500 + 300 + 4 * 500);
  EXPECT_EQ(shared(Collective::scatter, plan(Algorithm::direct, 1000), 500), 4 * 500 + 100 + 500);
}

TEST(CostNode, SeveralLeaders) {
  const Plan exchange = plan(Algorithm::exchange, 1000);
  EXPECT_EQ(shared(Collective::reduce_scatter, exchange, 400, 4, 4), 400 + 300 + 3 * 2 * 100);
  EXPECT_EQ(shared(Collective::reduce_scatter, exchange, 400, 4, 2), 400 + 300 + 3 * 2 * 200);
  EXPECT_EQ(shared(Collective::allgatherv, exchange, 400, 4, 4), 100 + 300 + 300);
  EXPECT_EQ(shared(Collective::allgatherv, plan(Algorithm::single_copy, 10), 400, 4, 4), 300 + 300 + 300);
}

TEST(CostNode, ByMessages) {
  EXPECT_EQ(by_messages(Collective::barrier, 0), 4 * 1000) << "two levels up and down";
  EXPECT_EQ(by_messages(Collective::bcast, 100), 2 * 1300);
  EXPECT_EQ(by_messages(Collective::reduce, 100), 100 + (1300 + 200) + 1300 + 2 * 200);
  EXPECT_EQ(by_messages(Collective::scan, 100), 3 * 100 + (2 * 1300 + 100 + 2 * 200) + 200);
  EXPECT_EQ(by_messages(Collective::gather, 100), 100 + 1300 + 2 * 300);
}

TEST(CostNode, ARankAloneOnlyCopies) {
  for (const Collective collective : {Collective::barrier, Collective::bcast, Collective::allgatherv})
    EXPECT_EQ(shared(collective, plan(Algorithm::tree, 64), 100, 1), 0) << to_string(collective);
  for (const Collective collective : {Collective::reduce, Collective::gather, Collective::reduce_scatter}) {
    EXPECT_EQ(shared(collective, plan(Algorithm::tree, 64), 100, 1), 100) << to_string(collective);
  }
  EXPECT_EQ(by_messages(Collective::barrier, 0, 1), 0);
  EXPECT_EQ(by_messages(Collective::reduce, 100, 1), 100);
}

TEST(CostNode, WhatIsNoNodeStageIsRefused) {
  EXPECT_THROW(shared(Collective::alltoall, plan(Algorithm::exchange, 64), 8), Error);
  EXPECT_THROW(by_messages(Collective::reduce_scatter, 8), Error);
}

}  // namespace
}  // namespace espalier::plan
