#include "simulation/engine/replay.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/cost/rounds.hpp"
#include "tests/simulation/engine/calls.hpp"
#include "tests/simulation/engine/models.hpp"

namespace espalier::simulation {
namespace {

using plan::Algorithm;
using testing::call_of;
using testing::round_model;
using testing::run_checked;

Call call_over_nodes(Collective collective, Algorithm algorithm, std::size_t bytes,
                     NodeStageKind stage = NodeStageKind::shared) {
  Call call = call_of(collective, Algorithm::tree, bytes);
  call.network.algorithm = algorithm;
  call.network.segment = 16384;
  call.stage = stage;
  return call;
}

// The same operations in the same order on the same engine: not nearly the same times, but the same.
TEST(Replay, TakesAsLongAsTheRanksThemselves) {
  Model model = round_model();
  model.noise = {10000, 500, 200};
  const auto check = [&](const Call& call, const Shape& shape) {
    EXPECT_EQ(replay(model, record(call, shape, model.node, 2), 7).ended,
              run_checked(model, call, shape, 7).ended)
        << testing::name_of(call, shape);
  };
  for (const std::size_t bytes : {8u, 4096u, 40000u}) {
    for (const int ranks : {2, 5, 8, 12}) {
      check(call_of(Collective::bcast, Algorithm::tree, bytes), {1, ranks});
      check(call_of(Collective::allreduce, Algorithm::tree, bytes), {1, ranks});
      check(call_of(Collective::allreduce, Algorithm::exchange, bytes), {1, ranks});
      check(call_of(Collective::allreduce, Algorithm::sliced, bytes), {1, ranks});
      check(call_of(Collective::scan, Algorithm::exchange, bytes), {1, ranks});
    }
    for (const Algorithm algorithm : {Algorithm::recursive_doubling, Algorithm::gather_all,
                                      Algorithm::rabenseifner, Algorithm::ring, Algorithm::tree})
      check(call_over_nodes(Collective::allreduce, algorithm, bytes), {6, 3});
    for (const Algorithm algorithm : {Algorithm::chain, Algorithm::gather_all, Algorithm::transpose})
      check(call_over_nodes(Collective::scan, algorithm, bytes), {6, 3});
    check(call_over_nodes(Collective::reduce_scatter, Algorithm::transpose, bytes), {6, 3});
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::dissemination})
      for (const int nodes : {3, 6, 9})
        check(call_over_nodes(Collective::allgather, algorithm, bytes), {nodes, 3});
    check(call_over_nodes(Collective::gather, Algorithm::direct, bytes), {6, 3});
    for (const NodeStageKind stage : {NodeStageKind::messages, NodeStageKind::none}) {
      check(call_over_nodes(Collective::allreduce, Algorithm::recursive_doubling, bytes, stage), {6, 3});
      check(call_over_nodes(Collective::scan, Algorithm::recursive_doubling, bytes, stage), {6, 3});
      check(call_over_nodes(Collective::alltoall, Algorithm::direct, bytes, stage), {6, 3});
      check(call_over_nodes(Collective::allgather, Algorithm::ring, bytes, stage), {6, 3});
    }
  }
  check(call_of(Collective::barrier, Algorithm::tree, 0), {9, 2});
}

TEST(Replay, RanksThatDoTheSameShareAProgram) {
  const Recording recording =
      record(call_of(Collective::barrier, Algorithm::tree, 0), {500, 16}, round_model().node);
  EXPECT_LE(recording.distinct(), 17u);
  EXPECT_LE(recording.flags(), 64u);
}

// So a ring of a thousand nodes is recorded on one of them.
TEST(Replay, NodesOfARingShareTheirPrograms) {
  const Call call = call_over_nodes(Collective::allgather, Algorithm::ring, 4096);
  EXPECT_EQ(record(call, {200, 3}, round_model().node).distinct(), 3u);
}

TEST(Replay, CallsThatDependOnTimeAreRefused) {
  EXPECT_THROW(record(call_of(Collective::allreduce, Algorithm::central, 8), {1, 4}, round_model().node),
               Error);
}

// What plan/cost/rounds.hpp says of an idle network is what comes out where nothing gets in the way.
TEST(Replay, AgreesWithTheCostModel) {
  Model model = round_model();
  model.network.wire.gap = 0;
  const plan::Wire& wire = model.network.wire;
  const auto last = [&](const Call& call, int nodes) {
    return replay(model, record(call, {nodes, 1}, model.node), 1).last();
  };
  for (const int nodes : {2, 4, 16, 64, 256}) {
    EXPECT_NEAR(last(call_over_nodes(Collective::allreduce, Algorithm::recursive_doubling, 8), nodes),
                plan::recursive_doubling(wire, nodes, 8).time, 0.02 * nodes + 20)
        << nodes;
    const Call ring = call_over_nodes(Collective::allreduce, Algorithm::ring, 4096);
    EXPECT_NEAR(last(ring, nodes) / plan::ring(wire, nodes, 4096).time, 1, 0.35) << nodes;
  }
}

TEST(Replay, AHundredThousandRanks) {
  Call call = call_over_nodes(Collective::allreduce, Algorithm::gather_all, 8);
  const Recording recording = record(call, {2000, 50}, round_model().node);
  const Times times = replay(round_model(), recording, 1);
  EXPECT_EQ(times.ended.size(), 100'000u);
  EXPECT_GT(times.last(), 6 * 1200);
}

}  // namespace
}  // namespace espalier::simulation
