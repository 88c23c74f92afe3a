// All collectives on the simulated machine, with checked results, at 1 to 64 ranks.
#include "simulation/engine/live.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/simulation/engine/calls.hpp"
#include "tests/simulation/engine/models.hpp"

namespace espalier::simulation {
namespace {

using plan::Algorithm;
using testing::call_of;
using testing::round_model;
using testing::run_checked;

struct Case {
  Collective collective;
  Algorithm algorithm;
};

const std::vector<Case> on_a_node = {
    {Collective::barrier, Algorithm::exchange},
    {Collective::barrier, Algorithm::central},
    {Collective::barrier, Algorithm::tree},
    {Collective::bcast, Algorithm::tree},
    {Collective::reduce, Algorithm::tree},
    {Collective::allreduce, Algorithm::exchange},
    {Collective::allreduce, Algorithm::central},
    {Collective::allreduce, Algorithm::tree},
    {Collective::allreduce, Algorithm::sliced},
    {Collective::allgather, Algorithm::exchange},
    {Collective::allgather, Algorithm::central},
    {Collective::alltoall, Algorithm::exchange},
    {Collective::gather, Algorithm::direct},
    {Collective::scatter, Algorithm::direct},
    {Collective::scan, Algorithm::exchange},
    {Collective::scan, Algorithm::sliced},
    {Collective::exscan, Algorithm::exchange},
    {Collective::reduce_scatter, Algorithm::exchange},
    {Collective::reduce_scatter, Algorithm::central},
    {Collective::reduce_scatter_block, Algorithm::exchange},
    {Collective::allgatherv, Algorithm::exchange},
    {Collective::alltoallv, Algorithm::exchange},
    {Collective::alltoallv, Algorithm::central},
    {Collective::gatherv, Algorithm::direct},
    {Collective::scatterv, Algorithm::direct},
};

// Every rank works out what every rank should have: with many of them short vectors must do.
std::vector<std::size_t> sizes_for(Collective collective, int ranks, std::size_t longest) {
  if (collective == Collective::barrier) return {0};
  if (ranks > 16) return {8, 400};
  return {8, 112, 4096, longest};
}

class OnANode : public ::testing::TestWithParam<int> {};

TEST_P(OnANode, EveryCollective) {
  const Shape shape{1, GetParam()};
  for (const Case& c : on_a_node)
    for (const std::size_t bytes : sizes_for(c.collective, shape.ranks(), 40000)) {
      const Times times = run_checked(round_model(), call_of(c.collective, c.algorithm, bytes), shape);
      EXPECT_TRUE(GetParam() == 1 || times.last() > 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, OnANode, ::testing::Values(1, 2, 3, 5, 8, 16, 33, 64));

const std::vector<Case> over_nodes = {
    {Collective::barrier, Algorithm::dissemination},
    {Collective::barrier, Algorithm::tree},
    {Collective::bcast, Algorithm::tree},
    {Collective::bcast, Algorithm::scatter_allgather},
    {Collective::reduce, Algorithm::tree},
    {Collective::reduce, Algorithm::rabenseifner},
    {Collective::allreduce, Algorithm::recursive_doubling},
    {Collective::allreduce, Algorithm::gather_all},
    {Collective::allreduce, Algorithm::rabenseifner},
    {Collective::allreduce, Algorithm::ring},
    {Collective::allreduce, Algorithm::tree},
    {Collective::allreduce, Algorithm::dissemination},
    {Collective::scan, Algorithm::recursive_doubling},
    {Collective::scan, Algorithm::chain},
    {Collective::scan, Algorithm::gather_all},
    {Collective::scan, Algorithm::transpose},
    {Collective::exscan, Algorithm::recursive_doubling},
    {Collective::allgather, Algorithm::dissemination},
    {Collective::allgather, Algorithm::ring},
    {Collective::gather, Algorithm::direct},
    {Collective::scatter, Algorithm::direct},
    {Collective::alltoall, Algorithm::direct},
    {Collective::reduce_scatter, Algorithm::allreduce},
    {Collective::reduce_scatter, Algorithm::transpose},
    {Collective::reduce_scatter_block, Algorithm::transpose},
    {Collective::allgatherv, Algorithm::ring},
    {Collective::gatherv, Algorithm::direct},
    {Collective::scatterv, Algorithm::direct},
    {Collective::alltoallv, Algorithm::direct},
};

bool is_rooted(Collective collective) {
  return collective == Collective::bcast || collective == Collective::reduce ||
         collective == Collective::gather || collective == Collective::gatherv ||
         collective == Collective::scatter || collective == Collective::scatterv;
}

class OverNodes : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(OverNodes, EveryCollective) {
  const auto [nodes, ranks] = GetParam();
  const Shape shape{nodes, ranks};
  for (const NodeStageKind stage : {NodeStageKind::shared, NodeStageKind::messages, NodeStageKind::none})
    for (const Case& c : over_nodes)
      for (const std::size_t bytes : sizes_for(c.collective, shape.ranks(), 20000)) {
        Call call = call_of(c.collective, Algorithm::exchange, bytes);
        call.network.algorithm = c.algorithm;
        call.network.segment = bytes > 4096 ? 7000 : 1 << 20;
        call.stage = stage;
        if (is_rooted(c.collective) && bytes > 8) call.root = shape.ranks() / 2;
        run_checked(round_model(), call, shape);
      }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OverNodes,
                         ::testing::Values(std::pair(2, 1), std::pair(2, 2), std::pair(3, 2), std::pair(4, 4),
                                           std::pair(5, 1), std::pair(7, 3), std::pair(16, 4),
                                           std::pair(64, 1)));

TEST(Live, SeveralRanksOfANodeShareTheNetworkStage) {
  Call call = call_of(Collective::allreduce, Algorithm::exchange, 20000);
  call.network.algorithm = Algorithm::ring;
  for (const int leaders : {2, 3, 0}) {
    call.network.leaders = leaders;
    run_checked(round_model(), call, {4, 3});
  }
}

// Segments that come later are not kept waiting by the first.
TEST(Live, SegmentsOfOneCallOverlap) {
  Call call = call_of(Collective::bcast, Algorithm::tree, 64000);
  call.network.algorithm = Algorithm::tree;
  call.network.tree = tree::parse_spec("chain");
  const double whole = run_checked(round_model(), call, {8, 1}).last();
  call.network.segment = 8000;
  EXPECT_LT(run_checked(round_model(), call, {8, 1}).last(), whole / 2);
}

TEST(Live, SeveralSegmentsGoThroughLanes) {
  Call call = call_of(Collective::allreduce, Algorithm::tree, 20000);
  call.network.algorithm = Algorithm::recursive_doubling;
  call.network.segment = 3000;
  run_checked(round_model(), call, {5, 2});
}

TEST(Live, TheSameSeedGivesTheSameTimes) {
  Model model = round_model();
  model.noise = {10000, 500, 200};
  const Call call = call_of(Collective::allreduce, Algorithm::tree, 4096);
  const Times first = run_checked(model, call, {1, 8}, 5), again = run_checked(model, call, {1, 8}, 5);
  EXPECT_EQ(first.ended, again.ended);
  EXPECT_NE(first.ended, run_checked(model, call, {1, 8}, 6).ended);
}

TEST(Live, RanksThatWaitForEverAreNamed) {
  const Shape shape{1, 2};
  try {
    run_live(round_model(), shape, layout_for(Call{}, shape), 1, [](SimulatedMachine& m, int rank) {
      if (rank == 1) m.await(machine::Channel::gather, 0, 1);
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 waits"), std::string::npos) << error.what();
  }
}

TEST(Live, WhatABodyThrowsIsThrown) {
  const Shape shape{1, 3};
  EXPECT_THROW(run_live(round_model(), shape, layout_for(Call{}, shape), 1,
                        [](SimulatedMachine&, int rank) {
                          if (rank == 2) throw Error("so it goes");
                        }),
               Error);
}

Model forty_cores() {
  return read_model(std::string(ESPALIER_SOURCE) + "/python/espalier/models/skylake-6138f.json");
}

// RG III-B: one store to the parent's own flag, not one to each child's.
TEST(Live, ReadingFromTheParentIsFasterThanWritingToEachChild) {
  Call call = call_of(Collective::bcast, Algorithm::tree, 8, "flat");
  const double from_parent = run_checked(forty_cores(), call, {1, 40}).last();
  call.node.read_from_parent = false;
  EXPECT_GT(run_checked(forty_cores(), call, {1, 40}).last(), 1.1 * from_parent);
}

// RG III-C and VI-A: with a single buffer the root waits for its readers.
TEST(Live, ASingleSlotMakesTheRootWait) {
  Call call = call_of(Collective::bcast, Algorithm::tree, 256 * 1024, "flat");
  call.slot_bytes = 8192;
  const auto with = [&](int slots) {
    call.slots = slots;
    return run_checked(forty_cores(), call, {1, 40}).last();
  };
  EXPECT_GT(with(1), 1.2 * with(2));
  EXPECT_NEAR(with(4) / with(8), 1, 0.15);
}

// Trees that follow the machine are the point of the project: the model must see the difference.
TEST(Live, ATreeAlongThePackagesBeatsAChain) {
  const auto last = [](const char* tree) {
    return run_checked(round_model(), call_of(Collective::barrier, Algorithm::tree, 0, tree), {1, 8}).last();
  };
  EXPECT_LT(last("kary:2"), last("chain levels=none"));
}

}  // namespace
}  // namespace espalier::simulation
