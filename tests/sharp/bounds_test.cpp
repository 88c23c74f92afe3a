// What peers, with the token and without, can make an aggregation node hold, and whom they can lock out.
#include <gtest/gtest.h>
#include <malloc.h>

#include <sharp/api/sharp_coll.h>

#include "tests/sharp/forest.hpp"

namespace espalier::sharp {
namespace {

std::size_t allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Bounds, joins_of_huge_groups_take_no_memory) {
  const TreeFile tree = parse_tree_file(tree_text(1), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  forest.settle();
  const std::size_t before = allocated();
  for (std::uint64_t group = 0; group < 1200; ++group)  // 77 KB of them
    forest.say(process, Forest::join_frame(65536, 0, group));
  forest.settle();
  EXPECT_EQ(forest.heard(process, Kind::failed)->code, SHARP_COLL_ENO_RESOURCE);
  forest.process(process).heard = {};
  EXPECT_LT(allocated(), before + (4 << 20));
  EXPECT_EQ(forest.node(0).held(), 0u);
}

TEST(Bounds, groups_that_are_possible_are_kept_to_the_memory) {
  const TreeFile tree = parse_tree_file(
      tree_text(1, R"({"memory": 1048576, "groups": 1000, "slots": 100000, "members": 1000})"), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  for (std::uint64_t group = 0; group < 1000; ++group)
    forest.say(process, Forest::join_frame(1000, 0, group));
  forest.settle();
  EXPECT_LE(forest.node(0).held(), std::size_t{1} << 19);
  EXPECT_GT(forest.node(0).groups(), 0u);
  const auto failed = forest.heard(process, Kind::failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, SHARP_COLL_ENO_RESOURCE);
  forest.cut_process(process);
  forest.tick(100);
  EXPECT_EQ(forest.node(0).held(), 0u) << "all is given back";
}

TEST(Bounds, contributions_that_wait_are_kept_to_the_memory) {
  const TreeFile tree = parse_tree_file(tree_text(1, R"({"memory": 1048576, "payload": 65536})"), "t");
  Forest forest(tree);
  const std::uint32_t members = 4;
  std::vector<std::vector<std::size_t>> groups;
  for (std::uint64_t group = 0; group < 4; ++group) groups.push_back(forest.join(members, group));
  std::size_t failed = 0;
  for (std::uint64_t group = 0; group < 4; ++group)
    for (std::uint64_t sequence = 0; sequence < 8; ++sequence) {
      Frame part = Forest::join_frame(members, 0, group);
      part.kind = Kind::contribute;
      part.operation = Operation::allreduce;
      part.op = SHARP_OP_SUM;
      part.type = SHARP_DTYPE_UNSIGNED;
      part.sequence = sequence;
      part.size = 65536;
      part.payload.resize(part.size);
      forest.say(groups[group][3], part);  // waits for those before it
      forest.settle();
      EXPECT_LE(forest.node(0).held(), std::size_t{1} << 19);
    }
  for (const auto& group : groups)
    if (const auto end = forest.heard(group[0], Kind::failed)) {
      EXPECT_EQ(end->code, SHARP_COLL_ENO_RESOURCE);
      ++failed;
    }
  EXPECT_GT(failed, 0u);
  for (const auto& group : groups)
    for (const std::size_t member : group) forest.cut_process(member);
  forest.settle();
  EXPECT_EQ(forest.node(0).held(), 0u);
}

TEST(Bounds, what_is_missing_is_named_in_a_text_of_bounded_length) {
  const TreeFile tree = parse_tree_file(tree_text(1), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  forest.say(process, Forest::join_frame(4096, 0, 1));
  forest.settle();
  forest.tick(40);
  const auto failed = forest.heard(process, Kind::failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, SHARP_COLL_EGROUP_JOIN);
  EXPECT_LE(failed->payload.size(), 512u);
  EXPECT_NE(failed->text().find("rank 8, 4087 more did not join"), std::string::npos) << failed->text();
}

class Strangers : public ::testing::Test {
 protected:
  void flood(int number) {
    for (int i = 0; i < number; ++i) {
      node.accepted(++last, 0);
      for (const auto& each : node.take_output())
        if (each.close) node.closed(each.to, 0), ++cut;
    }
  }
  TreeFile tree = parse_tree_file(tree_text(1, R"({"connections": 4})"), "t");
  AggregationNode node{position_of(tree, 0), tree.limits, tree.token};
  Connection last = 0;
  int cut = 0;
};

TEST_F(Strangers, who_have_proved_nothing_are_few_and_the_first_of_them_go) {
  flood(100);
  EXPECT_EQ(node.connections(), 4u);
  EXPECT_EQ(cut, 96);
  EXPECT_TRUE(node.drop_a_stranger());
}

TEST_F(Strangers, do_not_take_the_places_of_those_who_are_known) {
  Forest forest(tree);
  std::vector<std::size_t> members = forest.join(3, 1);
  std::vector<Connection> idle;
  AggregationNode& other = forest.node(0);
  for (Connection number = 1000; number < 1100; ++number) other.accepted(number, forest.now);
  const std::size_t late = forest.add_process(0);
  forest.settle();
  EXPECT_TRUE(forest.heard(late, Kind::welcome));
  for (const std::size_t member : members) EXPECT_FALSE(forest.process(member).is_cut);
}

TEST_F(Strangers, and_idle_processes_make_room_for_those_who_come) {
  Forest forest(tree);
  const auto members = forest.join(2, 1);
  const std::size_t idle = forest.add_process(0);
  forest.settle();
  forest.tick(1);
  const std::size_t recent = forest.add_process(0);
  forest.settle();
  const std::size_t next = forest.add_process(0);
  forest.settle();
  EXPECT_TRUE(forest.heard(next, Kind::welcome));
  EXPECT_TRUE(forest.process(idle).is_cut);
  EXPECT_FALSE(forest.process(recent).is_cut);
  for (const std::size_t member : members) EXPECT_FALSE(forest.process(member).is_cut);
  // Where all belong to groups there is no room.
  for (const std::size_t each : {recent, next}) forest.say(each, Forest::join_frame(2, each == next, 2));
  forest.settle();
  const std::size_t last_one = forest.add_process(0);
  forest.settle();
  EXPECT_EQ(forest.heard(last_one, Kind::refused)->code, SHARP_COLL_ENO_RESOURCE);
}

}  // namespace
}  // namespace espalier::sharp
