#include "simulation/measure/latencies.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulation/measure/cores.hpp"
#include "topology/discover.hpp"

namespace espalier::measure {
namespace {

std::vector<int> usable() {
  const topology::Topology topology = topology::discover(topology::Source::this_machine());
  return cores_in(topology, topology::current_affinity());
}

constexpr int no_cpu = 1023;  // of a machine that runs these tests

TEST(Latencies, EachPairIsMeasuredOnce) {
  const std::vector<int> cpus = usable();
  const nlohmann::json found = latencies(cpus, 4);
  const std::size_t count = std::min<std::size_t>(cpus.size(), 4);
  ASSERT_EQ(found["cpus"].size(), count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      const nlohmann::json& ns = found["ns"][i][j];
      EXPECT_TRUE(i != j || ns.is_null());
      // null where other processes keep a core busy
      EXPECT_TRUE(ns.is_null() || ns.get<double>() > 0) << ns;
      EXPECT_EQ(ns, found["ns"][j][i]);
    }
}

TEST(Latencies, OfSomeCoresWhereThereAreMany) {
  const nlohmann::json found = latencies({no_cpu, no_cpu - 1, no_cpu - 2, no_cpu - 3, no_cpu - 4}, 2);
  EXPECT_EQ(found["cpus"], nlohmann::json({no_cpu, no_cpu - 2}));
  EXPECT_TRUE(latencies({}, 2)["cpus"].empty());
}

TEST(Latencies, ACpuThatCannotBeHadIsLeftOut) {
  EXPECT_LT(flag_ns(usable().front(), no_cpu), 0);
  EXPECT_LT(flag_ns(no_cpu, usable().front()), 0);
  EXPECT_TRUE(latencies({usable().front(), no_cpu}, 2)["ns"][0][1].is_null());
}

}  // namespace
}  // namespace espalier::measure
