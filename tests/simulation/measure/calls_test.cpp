#include "simulation/measure/calls.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "simulation/measure/crew.hpp"
#include "topology/cpu_set.hpp"

namespace espalier::measure {
namespace {

using nlohmann::json;

std::vector<int> cpus() {
  std::vector<int> found;
  const topology::CpuSet allowed = topology::current_affinity();
  for (int cpu = allowed.first(); cpu >= 0; cpu = allowed.next(cpu)) found.push_back(cpu);
  return found;
}

TEST(Crew, RanksRunAtOnceAndRankZeroKeepsTheResults) {
  Crew crew(4, cpus());
  const auto results = crew.run(2, [](Rank& rank, double* into) {
    const machine::Step step = rank.machine().advance().last();
    rank.machine().publish(machine::Channel::gather, step);
    for (const int peer : rank.machine().other_ranks())
      rank.machine().await(machine::Channel::gather, peer, step);
    const double took = rank.time([] { usleep(2000); });
    if (rank.number() == 0) into[0] = took, into[1] = rank.count();
  });
  EXPECT_GE(results[0], 2e6) << "until the last is through";
  EXPECT_EQ(results[1], 4);
}

TEST(Crew, ARankThatFailsFailsAll) {
  Crew crew(3, cpus());
  EXPECT_THROW(crew.run(0,
                        [](Rank& rank, double*) {
                          if (rank.number() == 1) throw Error("on purpose");
                          rank.meet();  // no rank comes
                        }),
               Error);
}

TEST(Crew, RanksThatWaitForEachOtherForEverAreEnded) {
  Crew crew(2, cpus());
  EXPECT_THROW(crew.run(
                   0,
                   [](Rank& rank, double*) {
                     if (rank.number() == 0) rank.meet();
                   },
                   1),
               Error);
}

TEST(Calls, AreMeasuredWithCheckedResults) {
  for (const char* collective : {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather",
                                 "scatter", "scan", "exscan"}) {
    const json request = {{"model", ESPALIER_SOURCE "/python/espalier/models/frontera.json"},
                          {"collective", collective},
                          {"bytes", {8, 40000}},
                          {"ranks_per_node", {2, 3}},
                          {"rounds", 1}};
    const json rows = measure_calls(request, cpus());
    ASSERT_EQ(rows.size(), 4u) << collective;
    for (const json& row : rows) {
      EXPECT_GT(row["ns"], 0) << row;
      EXPECT_LE(row["lowest_ns"], row["ns"]) << row;
      EXPECT_LE(row["ns"], row["highest_ns"]) << row;
    }
  }
}

TEST(Calls, OverNodesAreRefused) {
  const json request = {{"model", ESPALIER_SOURCE "/python/espalier/models/frontera.json"},
                        {"collective", "barrier"},
                        {"nodes", {2}}};
  EXPECT_THROW(measure_calls(request, cpus()), Error);
}

}  // namespace
}  // namespace espalier::measure
