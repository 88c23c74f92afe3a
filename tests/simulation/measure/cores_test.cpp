#include "simulation/measure/cores.hpp"

#include <gtest/gtest.h>

namespace espalier::measure {
namespace {

using topology::CpuSet;
using topology::parse_topology;
using topology::Topology;

/// Two packages of two L2s of two cores of two hardware threads, numbered as Linux does: threads last.
Topology two_packages() {
  return parse_topology(
      "(machine 0-15 (package 0-3,8-11 (l2 0-1,8-9 (core 0,8) (core 1,9)) (l2 2-3,10-11 (core 2,10) (core "
      "3,11))) "
      "(package 4-7,12-15 (l2 4-5,12-13 (core 4,12) (core 5,13)) (l2 6-7,14-15 (core 6,14) (core 7,15)))) "
      "made up");
}

TEST(Cores, CountOnceHoweverManyThreadsTheyHave) {
  EXPECT_EQ(cores_in(two_packages(), CpuSet::range(0, 15)), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(cores_in(two_packages(), CpuSet::parse("3,8-9,12")), (std::vector<int>{8, 9, 3, 12}))
      << "those that may be used, domain by domain";
}

TEST(Cores, WithoutDomainsAreTheCpus) {
  const Topology flat = parse_topology("(machine 0-3) made up");
  EXPECT_EQ(cores_in(flat, CpuSet::parse("1-2")), (std::vector<int>{1, 2}));
}

TEST(Distances, AreTheDomainsWithMoreCoresThanThoseWithin) {
  const auto found = distances_in(two_packages(), {0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].level, "l2");
  EXPECT_EQ(found[0].cores, 2);
  EXPECT_EQ(found[0].other, 1);
  EXPECT_EQ(found[1].level, "package");
  EXPECT_EQ(found[1].other, 3);
  EXPECT_EQ(found[2].level, "machine");
  EXPECT_EQ(found[2].cores, 8);
  EXPECT_EQ(found[2].one, 0);
  EXPECT_EQ(found[2].other, 7);
}

TEST(Distances, OfDomainsWithTheSameCoresTheInnermostCounts) {
  const Topology nested = parse_topology("(machine 0-1 (package 0-1 (l3 0-1 (core 0) (core 1)))) made up");
  const auto found = distances_in(nested, {0, 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].level, "l3");
  EXPECT_TRUE(distances_in(nested, {0}).empty());
}

}  // namespace
}  // namespace espalier::measure
