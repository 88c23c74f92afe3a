// The trees that the papers draw, on made-up machines. RG: release/gather on trees; OSMP: core groups and
// virtual domains.
#include <gtest/gtest.h>

#include <map>

#include "base/error.hpp"
#include "topology/discover.hpp"
#include "topology/group.hpp"
#include "tree/compose.hpp"

namespace espalier::tree {
namespace {

using topology::CpuSet;
using topology::Group;
using topology::Level;

// One rank on every `step`-th CPU.
Group machine(const char* synthetic, int ranks, int step = 1) {
  std::vector<CpuSet> affinity;
  for (int rank = 0; rank < ranks; ++rank) affinity.push_back({rank * step});
  return topology::group_ranks(topology::discover(topology::Source::synthetic(synthetic)), affinity);
}

std::string drawn(const Group& group, const char* spec, int root = 0) {
  return print(compose(group, parse_spec(spec), root));
}

// How many groups there are of each level, and how many members (ranks and leaders) each has at most.
void measure(const Group& group, std::map<Level, int>& groups, std::map<Level, std::size_t>& members) {
  ++groups[group.level];
  members[group.level] = std::max(members[group.level], group.groups.size() + group.ranks.size());
  for (const Group& inner : group.groups) measure(inner, groups, members);
}

// RG Fig. 5: five sockets of four cores.
Group five_sockets() { return machine("package:5 core:4 pu:1", 20); }

TEST(Rg, Figure6PerSocketTree) {
  Group socket = topology::restrict(five_sockets(), std::vector{0, 1, 2, 3});
  EXPECT_EQ(drawn(socket, "kary:3"), "0(1 2 3)");
}

TEST(Rg, Figure7aLeadersFirst) {
  EXPECT_EQ(drawn(five_sockets(), "socket=kary:3 machine=kary:2 leaders=first"),
            "0(4(12(13 14 15) 16(17 18 19) 5 6 7) 8(9 10 11) 1 2 3)");
}

TEST(Rg, Figure7bLeadersLast) {
  EXPECT_EQ(drawn(five_sockets(), "socket=kary:3 machine=kary:2 leaders=last"),
            "0(1 2 3 4(5 6 7 12(13 14 15) 16(17 18 19)) 8(9 10 11))");
}

TEST(Rg, Figure8SkewTurnsEveryTreeRound) {
  EXPECT_EQ(drawn(five_sockets(), "socket=kary:2 machine=kary:2 leaders=last skew=right"),
            "0(2 1(3) 8(10 9(11)) 4(6 5(7) 16(18 17(19)) 12(14 13(15))))");
}

TEST(Rg, TopologyUnawareTreesLookAtRanksAlone) {
  EXPECT_EQ(drawn(five_sockets(), "kary:3 levels=none"), drawn(topology::flat_group(20), "kary:3"));
}

TEST(Rg, AnyRootLeadsAllItsGroups) {
  EXPECT_EQ(drawn(five_sockets(), "socket=kary:3 machine=kary:2 leaders=last", 6),
            "6(7 4 5 8(9 10 11 16(17 18 19) 0(1 2 3)) 12(13 14 15))");
  for (int root = 0; root < 20; ++root) {
    Tree tree = compose(five_sockets(), parse_spec("socket=kary:3 machine=kary:2"), root);
    EXPECT_EQ(tree.root, root);
    EXPECT_EQ(depth(tree), 3) << "root " << root;  // as for root 0
    EXPECT_EQ(max_fan_out(tree), 5);
  }
}

TEST(Compose, GroupsStandByTheirLowestRankWhoeverLeads) {
  // Rank 9's group stands where rank 2 stands, between the others, and the order goes round from there.
  Group group{Level::machine, {}, {}, {}};
  for (std::vector<int> ranks : {std::vector{0, 1}, {2, 9}, {3, 4}, {5, 6, 7, 8}}) {
    group.groups.push_back({Level::package, {}, ranks, {}});
  }
  EXPECT_EQ(drawn(group, "flat leaders=last", 9), "9(2 3(4) 5(6 7 8) 0(1))");
}

TEST(Osmp, Figure4DualEpyc7742) {
  Group epyc = machine("package:2 numa:4 l3:4 core:4 pu:1", 128);
  std::map<Level, int> groups;
  std::map<Level, std::size_t> members;
  measure(epyc, groups, members);
  EXPECT_EQ(groups, (std::map<Level, int>{
                        {Level::l3, 32}, {Level::numa, 8}, {Level::package, 2}, {Level::machine, 1}}));
  EXPECT_EQ(members, (std::map<Level, std::size_t>{
                         {Level::l3, 4}, {Level::numa, 4}, {Level::package, 4}, {Level::machine, 2}}));
  // Four steps: within each CCX, then among the leaders of a NUMA domain, of a socket, of the machine.
  Tree tree = compose(epyc, parse_spec("flat leaders=last"), 0);
  EXPECT_EQ(depth(tree), 4);
  EXPECT_EQ(tree.children_of(0), (std::vector{1, 2, 3, 4, 8, 12, 16, 32, 48, 64}));
  EXPECT_EQ(tree.children_of(64), (std::vector{65, 66, 67, 68, 72, 76, 80, 96, 112}));
  EXPECT_EQ(tree.children_of(80), (std::vector{81, 82, 83, 84, 88, 92}));
  EXPECT_EQ(tree.children_of(84), (std::vector{85, 86, 87}));
  EXPECT_TRUE(tree.children_of(85).empty());
}

TEST(Osmp, Figure2SocketLevelAndNumaLevel) {
  // 48 processes on the same machine, 24 a socket here, six a NUMA domain: grouped by socket only, by NUMA
  // domain only.
  Group epyc = machine("package:2 numa:4 core:6 pu:1", 48);
  EXPECT_EQ(compose(epyc, parse_spec("levels=socket leaders=last"), 0).children_of(0).size(), 23u + 1);
  EXPECT_EQ(compose(epyc, parse_spec("levels=numa leaders=last"), 0).children_of(0).size(), 5u + 7);
}

TEST(Osmp, Figure5DualXeon8280) {
  Group xeon = machine("package:2 core:28 pu:1", 56);
  for (auto [spec, degree, size] :
       {std::tuple{"virtual=2 leaders=last", 2, 14}, {"virtual=4 leaders=last", 4, 7}}) {
    Tree tree = compose(xeon, parse_spec(spec), 0);
    EXPECT_EQ(depth(tree), 3);
    std::vector<int> of_root, of_socket;
    for (int i = 1; i < size; ++i) of_root.push_back(i), of_socket.push_back(28 + i);
    for (int i = 1; i < degree; ++i) of_root.push_back(i * size), of_socket.push_back(28 + i * size);
    of_root.push_back(28);
    EXPECT_EQ(tree.children_of(0), of_root);
    EXPECT_EQ(tree.children_of(28), of_socket);
    for (int part = 1; part < degree; ++part) {
      EXPECT_EQ(tree.children_of(part * size).size(), static_cast<std::size_t>(size - 1));
    }
  }
}

TEST(Machines, Power9) {
  // Two sockets of 22 cores of four threads; two cores share their L2 and L3. Here one rank per core, then
  // per thread.
  const char* power9 = "package:2 l3:11 l2:1 core:2 pu:4";
  Tree cores = compose(machine(power9, 44, 4), parse_spec("l3=chain package=flat leaders=last"), 0);
  EXPECT_EQ(depth(cores), 3);
  EXPECT_EQ(cores.children_of(0), (std::vector{1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
  EXPECT_EQ(cores.children_of(42), (std::vector{43}));
  Tree threads = compose(machine(power9, 176), parse_spec("flat leaders=first"), 0);
  EXPECT_EQ(depth(threads), 4);
  EXPECT_EQ(threads.children_of(88),
            (std::vector{96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 92, 89, 90, 91}));
}

TEST(Machines, A64fx) {
  // Four groups of twelve cores, each with its own memory and L2.
  Group a64fx = machine("numa:4 l2:1 core:12 pu:1", 48);
  Tree tree = compose(a64fx, parse_spec("l2=knomial:2 machine=chain leaders=first"), 0);
  EXPECT_EQ(tree.children_of(0), (std::vector{12, 8, 4, 2, 1}));
  EXPECT_EQ(tree.children_of(12), (std::vector{24, 20, 16, 14, 13}));
  EXPECT_EQ(tree.children_of(36), (std::vector{44, 40, 38, 37}));
  EXPECT_EQ(depth(tree), 3 + 3);
}

TEST(Compose, RefusesRootsAndGroupsThatDoNotFit) {
  EXPECT_THROW(compose(topology::flat_group(4), Spec{}, 4), Error);
  EXPECT_THROW(compose(topology::flat_group(4), Spec{}, -1), Error);
  EXPECT_THROW(compose(topology::flat_group(0), Spec{}, 0), Error);
  EXPECT_THROW(compose(Group{Level::machine, {}, {0, 2}, {}}, Spec{}, 0), Error);
  EXPECT_THROW(compose(Group{Level::machine, {}, {0, 0, 1}, {}}, Spec{}, 0), Error);
}

}  // namespace
}  // namespace espalier::tree
