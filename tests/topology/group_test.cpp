#include "topology/group.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "base/error.hpp"
#include "topology/describe.hpp"
#include "topology/discover.hpp"

namespace espalier::topology {
namespace {

Topology machine(const char* synthetic) { return discover(Source::synthetic(synthetic)); }

std::vector<CpuSet> one_each(std::initializer_list<int> cpus) {
  std::vector<CpuSet> affinity;
  for (int cpu : cpus) affinity.push_back({cpu});
  return affinity;
}

std::vector<CpuSet> first_cpus(int n, int step = 1) {
  std::vector<CpuSet> affinity;
  for (int i = 0; i < n; ++i) affinity.push_back({i * step});
  return affinity;
}

std::string groups(const char* synthetic, const std::vector<CpuSet>& affinity) {
  return print(group_ranks(machine(synthetic), affinity));
}

TEST(GroupRanks, ByPackage) {
  EXPECT_EQ(groups("package:2 core:4 pu:1", first_cpus(8)), "machine(package(0 1 2 3) package(4 5 6 7))");
}

TEST(GroupRanks, RanksDealtRoundAreGroupedByWhereTheyAre) {
  EXPECT_EQ(groups("package:2 core:4 pu:1", one_each({0, 4, 1, 5, 2, 6})),
            "machine(package(0 2 4) package(1 3 5))");
  EXPECT_EQ(groups("package:2 core:4 pu:1", one_each({4, 0, 5, 1})), "machine(package(0 2) package(1 3))");
}

TEST(GroupRanks, OnlyDomainsInUseAreKept) {
  EXPECT_EQ(groups("package:4 core:4 pu:1", one_each({0, 1, 9})), "machine(package(0 1) 2)");
  EXPECT_EQ(groups("package:2 numa:2 core:4 pu:1", one_each({4, 5, 6})), "numa/package/machine(0 1 2)");
}

TEST(GroupRanks, LevelsThatGroupNothingVanish) {
  // One rank per package: nothing is left but the machine.
  EXPECT_EQ(groups("package:4 core:4 pu:1", one_each({0, 4, 8, 12})), "machine(0 1 2 3)");
  // Package, NUMA domain and L3 hold the same ranks.
  EXPECT_EQ(groups("package:2 numa:1 l3:1 core:2 pu:1", first_cpus(4)),
            "machine(l3/numa/package(0 1) l3/numa/package(2 3))");
}

TEST(GroupRanks, UnboundRanksStandWhereTheyFit) {
  std::vector<CpuSet> affinity = {{0}, {1}, CpuSet::range(0, 3), CpuSet::range(0, 7), {4}, {5}, {3, 4}};
  EXPECT_EQ(groups("package:2 core:4 pu:1", affinity), "machine(package(0 1 2) package(4 5) 3 6)");
  std::vector<CpuSet> all(4, CpuSet::range(0, 7));
  EXPECT_EQ(groups("package:2 core:4 pu:1", all), "machine(0 1 2 3)");
}

TEST(GroupRanks, MasksWithoutSenseStandAtTheMachine) {
  std::vector<CpuSet> affinity = {{0}, {1}, {}, {99}, {1, 99}};
  EXPECT_EQ(groups("package:2 core:4 pu:1", affinity), "machine(package(0 1) 2 3 4)");
}

TEST(GroupRanks, SeveralRanksOnACoreMeetThere) {
  EXPECT_EQ(groups("package:1 core:2 pu:2", first_cpus(4)), "numa/package/machine(core(0 1) core(2 3))");
  EXPECT_EQ(groups("core:2 pu:1", one_each({0, 1, 0, 1, 0})), "numa/machine(core(0 2 4) core(1 3))");
}

TEST(GroupRanks, FewRanks) {
  EXPECT_EQ(groups("package:2 core:4 pu:1", {}), "machine()");
  EXPECT_EQ(groups("package:2 core:4 pu:1", one_each({3})), "machine(0)");
}

TEST(GroupRanks, Power9AndA64fx) {
  // Two cores share L2 and L3 on POWER9; one rank per core of four threads.
  Group power9 = group_ranks(machine("package:2 l3:11 l2:1 core:2 pu:4"), first_cpus(44, 4));
  ASSERT_EQ(power9.groups.size(), 2u);
  EXPECT_EQ(power9.groups[1].level, Level::package);
  EXPECT_EQ(power9.groups[1].groups.size(), 11u);
  EXPECT_EQ(print(power9.groups[1].groups[10]), "l2/l3(42 43)");
  Group a64fx = group_ranks(machine("numa:4 l2:1 core:12 pu:1"), first_cpus(48));
  ASSERT_EQ(a64fx.groups.size(), 4u);
  EXPECT_EQ(print(a64fx.groups[2]), "l2/numa(24 25 26 27 28 29 30 31 32 33 34 35)");
}

TEST(SplitVirtual, Xeon8280WithDegreeTwoAndFour) {
  // OSMP Fig. 5.
  Group xeon = group_ranks(machine("package:2 core:28 pu:1"), first_cpus(56));
  EXPECT_EQ(xeon.groups.size(), 2u);
  for (auto [degree, size] : {std::pair{2, 14}, {4, 7}}) {
    Group split = split_virtual(xeon, degree);
    ASSERT_EQ(split.groups.size(), 2u);
    int next = 0;
    for (const Group& package : split.groups) {
      EXPECT_EQ(package.level, Level::package);
      EXPECT_TRUE(package.ranks.empty());
      ASSERT_EQ(package.groups.size(), static_cast<std::size_t>(degree));
      for (const Group& part : package.groups) {
        EXPECT_EQ(part.level, Level::virtual_domain);
        std::vector<int> expected(static_cast<std::size_t>(size));
        std::iota(expected.begin(), expected.end(), next);
        EXPECT_EQ(part.ranks, expected);
        next += size;
      }
    }
  }
}

TEST(SplitVirtual, PartsAreNearlyEqual) {
  EXPECT_EQ(print(split_virtual(flat_group(8), 3)), "machine(virtual(0 1 2) virtual(3 4 5) virtual(6 7))");
  EXPECT_EQ(print(split_virtual(flat_group(5), 4)), "machine(virtual(0 1) 2 3 4)");
  EXPECT_EQ(split_virtual(flat_group(4), 4), flat_group(4));
  EXPECT_EQ(split_virtual(flat_group(9), 0), flat_group(9));
  EXPECT_EQ(split_virtual(flat_group(9), 1), flat_group(9));
  EXPECT_THROW(split_virtual(flat_group(9), -1), Error);
}

TEST(SplitVirtual, OnlyLowestGroupsAreSplit) {
  Group group = group_ranks(machine("package:2 numa:2 core:4 pu:1"), first_cpus(16));
  EXPECT_EQ(print(split_virtual(group, 2)),
            "machine(package(numa(virtual(0 1) virtual(2 3)) numa(virtual(4 5) virtual(6 7))) "
            "package(numa(virtual(8 9) virtual(10 11)) numa(virtual(12 13) virtual(14 15))))");
}

TEST(Restrict, SpeaksOfTheRanksOfTheCommunicator) {
  Group group = group_ranks(machine("package:2 core:4 pu:1"), first_cpus(8));
  EXPECT_EQ(print(restrict(group, std::vector{0, 1, 4, 5})), "machine(package(0 1) package(2 3))");
  EXPECT_EQ(print(restrict(group, std::vector{7, 0, 6, 1})), "machine(package(0 2) package(1 3))");
  EXPECT_EQ(print(restrict(group, std::vector{4, 5, 6})), "package/machine(0 1 2)");
  EXPECT_EQ(print(restrict(group, std::vector{3, 4})), "machine(0 1)");
  EXPECT_EQ(print(restrict(group, std::vector{6})), "machine(0)");
  EXPECT_EQ(print(restrict(group, std::vector<int>{})), "machine()");
}

TEST(Restrict, RefusesMembersThatAreNotThere) {
  EXPECT_THROW(restrict(flat_group(4), std::vector{0, 4}), Error);
  EXPECT_THROW(restrict(flat_group(4), std::vector{0, 1, 0}), Error);
  EXPECT_THROW(flat_group(-1), Error);
}

TEST(Restrict, IsTheSameAsGroupingTheMembersAlone) {
  Topology epyc = machine("package:2 numa:2 l3:2 core:2 pu:2");
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::vector<CpuSet> affinity(1 + random() % 40);
    for (CpuSet& mask : affinity) {
      int first = static_cast<int>(random() % 32), width = 1 << random() % 6;
      mask = CpuSet::range(first / width * width, first / width * width + width - 1);
    }
    std::vector<int> members(affinity.size());
    std::iota(members.begin(), members.end(), 0);
    std::shuffle(members.begin(), members.end(), random);
    members.resize(random() % (members.size() + 1));
    std::vector<CpuSet> of_members;
    for (int member : members) of_members.push_back(affinity[static_cast<std::size_t>(member)]);
    Group restricted = restrict(group_ranks(epyc, affinity), members), alone = group_ranks(epyc, of_members);
    if (members.size() > 1) {
      EXPECT_EQ(print(restricted), print(alone));
    }
    EXPECT_EQ(topology::members(restricted), topology::members(alone));
  }
}

TEST(KeepLevels, DissolvesTheOthers) {
  Group group = group_ranks(machine("package:2 numa:2 l3:2 core:2 pu:1"), first_cpus(16));
  EXPECT_EQ(print(keep_levels(group, std::vector{Level::package})),
            "machine(package(0 1 2 3 4 5 6 7) package(8 9 10 11 12 13 14 15))");
  EXPECT_EQ(
      print(keep_levels(group, std::vector{Level::l3, Level::package})),
      "machine(package(l3(0 1) l3(2 3) l3(4 5) l3(6 7)) package(l3(8 9) l3(10 11) l3(12 13) l3(14 15)))");
  EXPECT_EQ(keep_levels(group, {}), flat_group(16));
  EXPECT_EQ(keep_levels(group, all_levels), group);
}

TEST(KeepLevels, AGroupOfSeveralLevelsIsNamedByThoseThatCount) {
  Group group = group_ranks(machine("package:2 numa:1 l3:1 core:2 pu:1"), first_cpus(4));
  EXPECT_EQ(print(keep_levels(group, std::vector{Level::numa})), "machine(numa(0 1) numa(2 3))");
  Group one = group_ranks(machine("package:1 l3:1 core:4 pu:1"), first_cpus(4));
  EXPECT_EQ(keep_levels(one, {}), flat_group(4));
}

TEST(GroupJson, HoldsTheGroups) {
  auto json = to_json(group_ranks(machine("package:2 numa:1 core:2 pu:1"), one_each({0, 1, 2})));
  EXPECT_EQ(json["level"], "machine");
  EXPECT_EQ(json["ranks"], (std::vector{2}));
  EXPECT_EQ(json["groups"][0]["level"], "numa");
  EXPECT_EQ(json["groups"][0]["outer"], (std::vector{"package"}));
  EXPECT_EQ(json["groups"][0]["ranks"], (std::vector{0, 1}));
}

}  // namespace
}  // namespace espalier::topology
