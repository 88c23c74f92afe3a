// The engine beside SimGrid: the same programs, which the algorithms' own text has recorded, on two
// simulators that have nothing in common.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/format.hpp"
#include "simulation/engine/noise.hpp"
#include "simulation/simgrid/player.hpp"
#include "tests/full.hpp"
#include "tests/simulation/engine/calls.hpp"

namespace espalier::simulation {
namespace {

using plan::Algorithm;
using testing::call_of;

/// Frontera's messages on one switch. SimGrid's cards know no least time between two messages.
Model frontera() {
  Model model = read_model(ESPALIER_SOURCE "/python/espalier/models/frontera.json");
  model.network.wire.gap = 0;
  model.network.cards = 1;
  model.network.link_ns_per_byte = model.network.wire.per_byte;
  model.network.switches.clear();
  return model;
}

struct Schedule {
  Collective collective;
  Algorithm algorithm;
  std::size_t bytes;
  int most_nodes;
};

// Long messages in many rounds only on few nodes: a ring's are as many as the square of the nodes.
const Schedule schedules[] = {
    {Collective::barrier, Algorithm::dissemination, 0, 7861},
    {Collective::bcast, Algorithm::tree, 8, 7861},
    {Collective::bcast, Algorithm::tree, 16 * 1024, 7861},
    {Collective::reduce, Algorithm::tree, 8, 7861},
    {Collective::reduce, Algorithm::tree, 16 * 1024, 7861},
    {Collective::allreduce, Algorithm::recursive_doubling, 8, 7861},
    {Collective::allreduce, Algorithm::recursive_doubling, 64 * 1024, 7861},
    {Collective::allreduce, Algorithm::gather_all, 8, 1024},
    {Collective::allreduce, Algorithm::rabenseifner, 256 * 1024, 1024},
    {Collective::allreduce, Algorithm::ring, 256 * 1024, 100},
    {Collective::bcast, Algorithm::scatter_allgather, 256 * 1024, 100},
};

Call call_of(const Schedule& schedule) {
  Call call = call_of(schedule.collective, Algorithm::tree, schedule.bytes);
  call.network.algorithm = schedule.algorithm;
  return call;
}

/// Every rank works for a moment of its own before it begins: of two messages that come to a card at the very
/// same time each simulator would let another one in first, and what follows differ by a whole message.
Recording begun_apart(const Recording& recording) {
  constexpr std::uint64_t most = 100 * 16;  // of sixteenths of a nanosecond
  Recording apart(recording.shape());
  for (int rank = 0; rank < recording.shape().ranks(); ++rank) {
    Program program{{Act::work, 0, 0, SmallRandom(static_cast<std::uint64_t>(rank)).next() % most}};
    program.insert(program.end(), recording.of(rank).begin(), recording.of(rank).end());
    apart.put(rank, std::move(program));
  }
  apart.number_flags();
  return apart;
}

double mean(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

TEST(SimGrid, AgreesWithTheEngineWithinOnePercent) {
  const Model model = frontera();
  std::vector<std::string> names;
  std::vector<Recording> recordings;
  const int most = espalier::testing::full() ? 7861 : 1024;  // SimGrid takes a minute and a half for all
  for (const int nodes : {64, 100, 1024, 4096, 7861})
    for (const Schedule& schedule : schedules) {
      if (nodes > std::min(most, schedule.most_nodes)) continue;
      const Call call = call_of(schedule);
      names.push_back(testing::name_of(call, {nodes, 1}));
      recordings.push_back(begun_apart(record(call, {nodes, 1}, model.node)));
    }
  Cluster cluster(model, most, {});
  const auto played = play_in_simgrid(cluster, recordings);
  ASSERT_EQ(played.size(), recordings.size());
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const Times ours = replay(model, recordings[i], 1);
    const double last = *std::max_element(played[i].begin(), played[i].end());
    print_to(stdout, "{}: {:.2f} us, SimGrid {:.2f} us\n", names[i], ours.last() / 1000, last / 1000);
    EXPECT_NEAR(ours.last() / last, 1, 0.01) << names[i];
    EXPECT_NEAR(ours.mean() / mean(played[i]), 1, 0.01) << names[i];
  }
}

}  // namespace
}  // namespace espalier::simulation
