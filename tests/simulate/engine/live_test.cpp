// All collectives on the simulated machine, with checked results, at 1 to 64 ranks.
#include "simulate/engine/live.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/simulate/engine/calls.hpp"
#include "tests/simulate/engine/models.hpp"

namespace espalier::simulate {
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
    {Collective::barrier, Algorithm::exchange},  {Collective::barrier, Algorithm::central},
    {Collective::barrier, Algorithm::tree},      {Collective::bcast, Algorithm::tree},
    {Collective::reduce, Algorithm::tree},       {Collective::allreduce, Algorithm::exchange},
    {Collective::allreduce, Algorithm::central}, {Collective::allreduce, Algorithm::tree},
    {Collective::allreduce, Algorithm::sliced},  {Collective::allgather, Algorithm::exchange},
    {Collective::allgather, Algorithm::central}, {Collective::alltoall, Algorithm::exchange},
    {Collective::gather, Algorithm::direct},     {Collective::scatter, Algorithm::direct},
    {Collective::scan, Algorithm::exchange},     {Collective::scan, Algorithm::sliced},
    {Collective::exscan, Algorithm::exchange},
};

class OnANode : public ::testing::TestWithParam<int> {};

TEST_P(OnANode, EveryCollective) {
  const Shape shape{1, GetParam()};
  for (const Case& c : on_a_node)
    for (const std::size_t bytes : {8u, 112u, 4096u, 40000u}) {
      if (c.collective == Collective::barrier && bytes > 8) continue;
      const Times times = run_checked(round_model(), call_of(c.collective, c.algorithm, bytes), shape);
      EXPECT_TRUE(GetParam() == 1 || times.last() > 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, OnANode, ::testing::Values(1, 2, 3, 5, 8, 16, 33, 64));

class OverNodes : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(OverNodes, EveryCollective) {
  const auto [nodes, ranks] = GetParam();
  const Shape shape{nodes, ranks};
  const auto check = [&](Collective collective, Algorithm algorithm, std::size_t bytes) {
    Call call = call_of(collective, Algorithm::tree, bytes);
    call.network.algorithm = algorithm;
    run_checked(round_model(), call, shape);
  };
  check(Collective::barrier, Algorithm::dissemination, 0);
  for (const std::size_t bytes : {8u, 400u, 20000u}) {
    check(Collective::bcast, Algorithm::tree, bytes);
    check(Collective::bcast, Algorithm::scatter_allgather, bytes);
    check(Collective::reduce, Algorithm::tree, bytes);
    for (const Algorithm algorithm : {Algorithm::recursive_doubling, Algorithm::gather_all,
                                      Algorithm::rabenseifner, Algorithm::ring, Algorithm::tree})
      check(Collective::allreduce, algorithm, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OverNodes,
                         ::testing::Values(std::pair(2, 1), std::pair(2, 2), std::pair(3, 2), std::pair(4, 4),
                                           std::pair(5, 1), std::pair(7, 3), std::pair(16, 4),
                                           std::pair(64, 1)));

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
    run_live(round_model(), shape, layout_for(shape), 1, [](SimulatedMachine& m, int rank) {
      if (rank == 1) m.await(machine::Channel::gather, 0, 1);
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 waits"), std::string::npos) << error.what();
  }
}

TEST(Live, WhatABodyThrowsIsThrown) {
  const Shape shape{1, 3};
  EXPECT_THROW(run_live(round_model(), shape, layout_for(shape), 1,
                        [](SimulatedMachine&, int rank) {
                          if (rank == 2) throw Error("so it goes");
                        }),
               Error);
}

// Trees that follow the machine are the point of the project: the model must see the difference.
TEST(Live, ATreeAlongThePackagesBeatsAChain) {
  const auto last = [](const char* tree) {
    return run_checked(round_model(), call_of(Collective::barrier, Algorithm::tree, 0, tree), {1, 8}).last();
  };
  EXPECT_LT(last("kary:2"), last("chain levels=none"));
}

}  // namespace
}  // namespace espalier::simulate
