#include "plan/cost/model.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace espalier::plan {
namespace {

// Messages between nodes: 120 + 2 a byte; within: 1000 + 3 a byte.
CostParameters parameters() {
  CostParameters result;
  result.network = {100, 10, 40, 2, 1, 0.5};
  result.link_per_byte = 2;
  result.node = {50, 0.5, 1, {}};
  result.node.messages = {1000, 0, 0, 3, 1, 0.5};
  return result;
}

CostParameters without_node_stage() {
  CostParameters result = parameters();
  result.node = {};
  return result;
}

NetworkPlan network(Algorithm algorithm, std::size_t segment, const char* tree = "knomial:2",
                    int leaders = 1) {
  NetworkPlan plan;
  plan.algorithm = algorithm;
  plan.segment = segment;
  plan.leaders = leaders;
  plan.tree = tree::parse_spec(tree);
  return plan;
}

Plan node_plan(Collective collective, std::size_t) {
  Plan plan;
  plan.algorithm = algorithms_of(Scope::node, collective)[1];
  plan.chunk = 256;
  return plan;
}

Prediction ask(const NodesCall& call, const NetworkPlan& plan, const CostParameters& costs = parameters()) {
  return predict(call, plan, node_plan, costs);
}

/// Every collective with every algorithm that it has between nodes.
template <class Body>
void for_all(Body body) {
  for (const Collective collective : all_collectives)
    for (const Algorithm algorithm : algorithms_of(Scope::network, collective))
      // An allreduce costs what it is made of; what aggregation nodes cost the model does not know.
      if (algorithm != Algorithm::host && algorithm != Algorithm::allreduce && algorithm != Algorithm::sharp)
        for (const bool memory : {true, false})
          for (const int leaders : {1, 0}) {
            SCOPED_TRACE(std::string(to_string(collective)) + " by " + std::string(to_string(algorithm)) +
                         (memory ? ", shared memory" : ", messages") + (leaders ? "" : ", all lead"));
            body(collective, network(algorithm, 1024, "knomial:2", leaders), memory);
          }
}

TEST(CostModel, BcastByHand) {
  // Two rounds of 120 + 200 between four nodes, then one message of 1300 on each.
  const Prediction found = ask({Collective::bcast, 100, 4, 2, false}, network(Algorithm::tree, 1024));
  EXPECT_EQ(found.network, 640);
  EXPECT_EQ(found.node, 1300);
  EXPECT_EQ(found.node_alone, 1300);
  EXPECT_EQ(found.total, 1940);
  EXPECT_DOUBLE_EQ(found.ideal_speed_up, 1940.0 / 640);
  EXPECT_EQ(found.rounds, 2);
  EXPECT_EQ(found.segments, 1u);
}

TEST(CostModel, BarrierByHand) {
  const Prediction found = ask({Collective::barrier, 0, 16, 2, false}, network(Algorithm::dissemination, 64));
  // Four come together in a round: two rounds, each a message and two more behind it.
  EXPECT_EQ(found.network, 2 * (120 + 2 * 40));
  EXPECT_EQ(found.node, 2 * 1000);
}

TEST(CostModel, AllreduceByHand) {
  // Copy and one fold up; rounds of message and fold; one message down.
  const Prediction found =
      ask({Collective::allreduce, 100, 4, 2, false}, network(Algorithm::recursive_doubling, 1024));
  EXPECT_EQ(found.network, 2 * (120 + 200 + 100));
  EXPECT_EQ(found.node, 50 + (1300 + 100) + 1300);
}

TEST(CostModel, ScanPutsTheNodesBelowInFront) {
  CostParameters folds = without_node_stage();
  folds.node.fold_per_byte = 1;
  const NodesCall call = {Collective::scan, 100, 4, 1, true};
  EXPECT_EQ(ask(call, network(Algorithm::chain, 1024), folds).node, 100);
  EXPECT_EQ(ask(call, network(Algorithm::transpose, 1024), folds).node, 0) << "leaders fold everything";
}

TEST(CostModel, PipelineOfSegments) {
  // HIER 3.1: the first segment takes the way, the others what the busiest leader's way out takes for each.
  const NetworkPlan plan = network(Algorithm::tree, 100, "kary:2");
  const Prediction found = ask({Collective::bcast, 1000, 7, 1, true}, plan, without_node_stage());
  const double first = 2 * (120 + 200 + 200);
  EXPECT_EQ(found.segments, 10u);
  EXPECT_EQ(found.total, first + 9 * 400);
}

TEST(CostModel, SegmentsHideTheNodeStage) {
  const NodesCall call = {Collective::allreduce, 100000, 8, 4, true};
  const Prediction whole = ask(call, network(Algorithm::rabenseifner, 100000));
  const Prediction cut = ask(call, network(Algorithm::rabenseifner, 4096));
  EXPECT_EQ(whole.node, whole.node_alone) << "one segment: nothing to overlap with";
  EXPECT_LT(cut.node, 0.5 * cut.node_alone);
  EXPECT_LT(cut.total, whole.total);
}

TEST(CostModel, SeveralLeadersHelpWhereOneCannotFillTheLink) {
  const NodesCall call = {Collective::allreduce, 1 << 20, 8, 4, true};
  CostParameters wide = parameters();
  wide.link_per_byte = 0.5;
  const NetworkPlan one = network(Algorithm::ring, 1 << 18),
                    all = network(Algorithm::ring, 1 << 18, "flat", 0);
  EXPECT_LT(ask(call, all, wide).network, 0.5 * ask(call, one, wide).network);
  const double gain = ask(call, one).network - ask(call, all).network;
  EXPECT_GT(gain, 0) << "folds are shared in any case";
  EXPECT_LT(gain, 0.5 * ask(call, one).network) << "but the link is full";
}

TEST(CostModel, FreeNodeStageLeavesNothingToGain) {
  for_all([](Collective collective, const NetworkPlan& plan, bool memory) {
    for (const std::size_t bytes : {4u, 1024u, 10000u}) {
      const Prediction found = ask({collective, bytes, 6, 4, memory}, plan, without_node_stage());
      EXPECT_DOUBLE_EQ(found.ideal_speed_up, 1);
      EXPECT_EQ(found.node, 0);
      EXPECT_EQ(found.node_alone, 0);
      EXPECT_GT(found.total, 0);
    }
  });
}

TEST(CostModel, JoinedIsNeverMoreThanItsStagesNorLessThanOne) {
  for_all([](Collective collective, const NetworkPlan& plan, bool memory) {
    for (const std::size_t bytes : {1u, 100u, 1024u, 1025u, 5000u, 8192u, 100000u}) {
      const Prediction found = ask({collective, bytes, 6, 4, memory}, plan);
      EXPECT_LE(found.total, (found.network + found.node_alone) * (1 + 1e-12)) << bytes;
      EXPECT_GE(found.total, found.network) << bytes;
      EXPECT_GE(found.total, found.node_alone * (1 - 1e-12)) << bytes;
      EXPECT_DOUBLE_EQ(found.total, found.network + found.node);
      EXPECT_GE(found.ideal_speed_up, 1);
    }
  });
}

TEST(CostModel, MoreBytesNeverTakeLess) {
  for_all([](Collective collective, const NetworkPlan& plan, bool memory) {
    double before = 0;
    for (std::size_t bytes = 1; bytes < 30000; bytes += bytes < 2000 ? 1 : 13) {
      const double total = ask({collective, bytes, 6, 4, memory}, plan).total;
      ASSERT_GE(total, before * (1 - 1e-12)) << bytes;
      before = total;
    }
  });
}

TEST(CostModel, MoreNodesOrRanksNeverTakeLess) {
  for_all([](Collective collective, const NetworkPlan& plan, bool memory) {
    if (plan.leaders == 0) return;  // more ranks, more leaders
    for (int nodes = 2; nodes <= 64; nodes *= 2)
      for (int ranks = 1; ranks <= 8; ++ranks) {
        const double total = ask({collective, 5000, nodes, ranks, memory}, plan).total;
        // A transpose's messages get shorter; everything else gets longer.
        const int more = plan.algorithm == Algorithm::transpose ? nodes : 2 * nodes;
        EXPECT_LE(total, ask({collective, 5000, more, ranks, memory}, plan).total) << nodes;
        EXPECT_LE(total, ask({collective, 5000, nodes, ranks + 1, memory}, plan).total * (1 + 1e-12))
            << nodes << " nodes of " << ranks;
      }
  });
}

TEST(CostModel, NothingToDoTakesNothing) {
  const Prediction found = ask({Collective::bcast, 0, 4, 2, true}, network(Algorithm::tree, 1024));
  EXPECT_EQ(found.total, 0);
  EXPECT_EQ(found.segments, 0u);
  EXPECT_EQ(found.ideal_speed_up, 1);
}

TEST(CostModel, StepsOfTheNodes) {
  const NodesCall call = {Collective::allreduce, 5000, 4, 4, true};
  const auto one = node_steps(call, network(Algorithm::ring, 1024));
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0].piece.collective, Collective::reduce);
  EXPECT_EQ(one[0].bytes, 1024u) << "a segment";
  EXPECT_FALSE(one[0].releases);
  EXPECT_EQ(one[1].piece.collective, Collective::bcast);
  EXPECT_TRUE(one[1].releases);
  const auto all = node_steps(call, network(Algorithm::ring, 1024, "flat", 0));
  EXPECT_EQ(all[0].piece.collective, Collective::reduce_scatter);
  EXPECT_EQ(all[0].piece.leaders, 4);
  EXPECT_EQ(all[1].piece.collective, Collective::allgatherv);
  const NodesCall scan = {Collective::exscan, 8, 4, 4, true};
  EXPECT_EQ(node_steps(scan, network(Algorithm::chain, 1024))[0].piece.collective, Collective::exscan);
  EXPECT_EQ(node_steps(scan, network(Algorithm::transpose, 1024))[0].piece.collective, Collective::gather);
}

TEST(CostModel, WhatCannotBeSaidIsRefused) {
  const NetworkPlan tree = network(Algorithm::tree, 64);
  EXPECT_THROW(ask({Collective::bcast, 8, 1, 4, true}, tree), Error) << "one node";
  EXPECT_THROW(ask({Collective::bcast, 8, 4, 0, true}, tree), Error);
  EXPECT_THROW(ask({Collective::bcast, 8, 1 << 20, 1 << 20, true}, tree), Error);
  EXPECT_THROW(ask({Collective::bcast, std::size_t{1} << 40, 4, 1, true}, tree), Error)
      << "too many segments";
  EXPECT_THROW(ask({Collective::bcast, 8, 4, 1, true}, network(Algorithm::host, 64)), Error);
}

}  // namespace
}  // namespace espalier::plan
