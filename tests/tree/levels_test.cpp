#include "tree/levels.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "base/error.hpp"
#include "topology/discover.hpp"

namespace espalier::tree {
namespace {

using topology::Group;
using topology::Level;

const Level lower = Level::virtual_domain, upper = Level::machine;

TEST(Levels, InnerGroupsComeFirstAndLeadersGoOn) {
  const Group group = parse_groups("((0 1 2) (3 4) 5)", 6);
  EXPECT_EQ(level_groups(group, 0),
            (std::vector<LevelGroup>{{0, lower, {0, 1, 2}}, {0, lower, {3, 4}}, {1, upper, {0, 3, 5}}}));
}

// As in compose(): the root is a leader wherever it is, and the others keep their order behind it.
TEST(Levels, TheRootLeadsEachOfItsGroups) {
  const Group group = parse_groups("((0 1 2) (3 4) 5)", 6);
  EXPECT_EQ(level_groups(group, 4),
            (std::vector<LevelGroup>{{0, lower, {0, 1, 2}}, {0, lower, {4, 3}}, {1, upper, {4, 5, 0}}}));
  EXPECT_EQ(level_groups(group, 5).back(), (LevelGroup{1, upper, {5, 0, 3}}));
}

TEST(Levels, AGroupIsAboveAllThatItHolds) {
  const Group group = parse_groups("(0 (1 2) ((3 4) 5))", 6);
  EXPECT_EQ(level_groups(group, 0),
            (std::vector<LevelGroup>{
                {0, lower, {1, 2}}, {0, lower, {3, 4}}, {1, lower, {3, 5}}, {2, upper, {0, 1, 3}}}));
}

TEST(Levels, ARankAloneHasOneGroup) {
  EXPECT_EQ(level_groups(topology::flat_group(1), 0), (std::vector<LevelGroup>{{0, upper, {0}}}));
  EXPECT_EQ(level_groups(parse_groups("((0))", 1), 0),
            (std::vector<LevelGroup>{{0, lower, {0}}, {1, upper, {0}}}));
}

TEST(Levels, PlacesAreFound) {
  const LevelGroup group{0, lower, {4, 3, 7}};
  EXPECT_EQ(place_in(group, 4), 0);
  EXPECT_EQ(place_in(group, 7), 2);
  EXPECT_EQ(place_in(group, 5), -1);
}

// The machine's groups, and OSMP's figure 5: sockets of 28 cores in 7 virtual domains of 4.
TEST(Levels, VirtualLevelsSplitTheLowestGroups) {
  const auto machine = topology::discover(topology::Source::synthetic("package:2 core:28 pu:1"));
  std::vector<topology::CpuSet> masks;
  for (int rank = 0; rank < 56; ++rank) masks.push_back(topology::CpuSet::parse(std::to_string(rank)));
  const Group sockets = topology::group_ranks(machine, masks);
  EXPECT_EQ(level_groups(sockets, 0).size(), 3U);
  const auto once = level_groups(split_virtual_levels(sockets, 7, 1), 0);
  EXPECT_EQ(once.size(), 2 * 7 + 2 + 1U);
  EXPECT_EQ(once.front(), (LevelGroup{0, lower, {0, 1, 2, 3}}));
  EXPECT_EQ(once.back().level, 2);
  EXPECT_EQ(split_virtual_levels(sockets, 7, 0), sockets);
  EXPECT_EQ(split_virtual_levels(sockets, 1, 5), sockets);
}

TEST(Levels, VirtualLevelsEndWhereNothingIsLeftToSplit) {
  const Group flat = topology::flat_group(16);
  EXPECT_EQ(level_groups(split_virtual_levels(flat, 2, 1), 0).back().level, 1);
  EXPECT_EQ(level_groups(split_virtual_levels(flat, 2, 2), 0).back().level, 2);
  EXPECT_EQ(split_virtual_levels(flat, 2, 50), split_virtual_levels(flat, 2, 3));
}

void expect_tree(const Group& group, int size, int root) {
  const auto all = level_groups(group, root);
  std::vector<int> parents(static_cast<std::size_t>(size), 0);
  std::vector<int> highest(static_cast<std::size_t>(size), -1);
  for (const LevelGroup& each : all)
    for (const int member : each.members) {
      // Levels rise for each of its members; only leaders go on.
      EXPECT_LT(highest[static_cast<std::size_t>(member)], each.level);
      highest[static_cast<std::size_t>(member)] = each.level;
      parents[static_cast<std::size_t>(member)] += member != each.members.front();
    }
  for (int rank = 0; rank < size; ++rank)
    EXPECT_EQ(parents[static_cast<std::size_t>(rank)], rank == root ? 0 : 1) << "rank " << rank;
  EXPECT_EQ(all.back().members.front(), root);
}

std::string some_groups(std::mt19937& random, int first, int end, int depth) {
  std::string text = "(";
  for (int rank = first; rank < end;) {
    const int count = std::min<int>(1 + static_cast<int>(random() % 4), end - rank);
    if (rank > first) text += ' ';
    text +=
        depth > 0 && random() % 2 ? some_groups(random, rank, rank + count, depth - 1) : std::to_string(rank);
    rank += text.back() == ')' ? count : 1;
  }
  return text + ")";
}

TEST(Levels, EveryRankButTheRootHasOneLeader) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int size = 1 + static_cast<int>(random() % 20);
    const std::string text = some_groups(random, 0, size, 3);
    SCOPED_TRACE(text);
    for (int root = 0; root < size; ++root) expect_tree(parse_groups(text, size), size, root);
  }
}

TEST(GroupsText, WhatIsPrintedIsRead) {
  for (const char* text :
       {"machine(0 1)", "l3/package/machine(0)", "numa(l2(0 1) core/l3(2 4) virtual(3 5) 6)"})
    EXPECT_EQ(topology::print(parse_some_groups(text)), text);
  EXPECT_EQ(topology::print(parse_groups("(package(0 1) (2 3))", 4)), "machine(package(0 1) virtual(2 3))");
}

std::string mistake_in(const std::string& text, int size) {
  try {
    parse_groups(text, size);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(GroupsText, MistakesAreNamed) {
  EXPECT_EQ(mistake_in(" ( 0 ( 1 2 ) ) ", 3), "none");
  EXPECT_EQ(mistake_in("(0 1", 2), "groups \"(0 1\": need a rank, '(' or ')' at column 5");
  EXPECT_EQ(mistake_in("0 1", 2), "groups \"0 1\": need '(' at column 1");
  EXPECT_EQ(mistake_in("(0 1) 2", 3), "groups \"(0 1) 2\": need the end at column 7");
  EXPECT_EQ(mistake_in("(0 ())", 1), "groups \"(0 ())\": need a group that is not empty at column 6");
  EXPECT_EQ(mistake_in("(0 !)", 1), "groups \"(0 !)\": need a rank, '(' or ')' at column 4");
  EXPECT_EQ(mistake_in("(0 x)", 1), "groups \"(0 x)\": need a level's name, '(' or a rank at column 4");
  EXPECT_EQ(mistake_in("(0 numa 1)", 2), "groups \"(0 numa 1)\": need '(' at column 8");
  EXPECT_EQ(mistake_in("(0 2)", 3), "groups \"(0 2)\": rank 1 is missing, or comes twice");
  EXPECT_EQ(mistake_in("(0 (1 0))", 2), "groups \"(0 (1 0))\": rank 0 is missing, or comes twice");
  EXPECT_EQ(mistake_in("(0 1 2)", 2), "groups \"(0 1 2)\": the ranks are 0 to 1");
  EXPECT_EQ(mistake_in("(99999999999)", 1), "groups \"(99999999999)\": need a smaller rank at column 10");
  EXPECT_NE(mistake_in(std::string(200, '(') + "0", 1), "none");
}

}  // namespace
}  // namespace espalier::tree
