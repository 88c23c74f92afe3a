// The aggregation node as a state machine, one and several of them.
#include "sharp/aggregation_node.hpp"

#include <sharp/api/sharp_coll.h>

#include <cstring>

#include "tests/sharp/forest.hpp"

namespace espalier::sharp {
namespace {

Frame contribution(std::uint64_t group, std::uint64_t sequence, Operation operation,
                   std::vector<float> values, std::uint32_t root = 0) {
  Frame frame;
  frame.kind = Kind::contribute;
  frame.operation = operation;
  frame.op = SHARP_OP_SUM;
  frame.type = SHARP_DTYPE_FLOAT;
  frame.job = Forest::job;
  frame.group = group;
  frame.sequence = sequence;
  frame.root = root;
  frame.payload.resize(values.size() * sizeof(float));
  frame.size = static_cast<std::uint32_t>(frame.payload.size());
  if (!values.empty()) std::memcpy(frame.payload.data(), values.data(), frame.payload.size());
  return frame;
}

std::vector<float> values_of(const Frame& frame) {
  std::vector<float> values(frame.payload.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), frame.payload.data(), frame.payload.size());
  return values;
}

class Trees : public ::testing::TestWithParam<int> {
 protected:
  TreeFile tree = parse_tree_file(tree_text(GetParam()), "t");
};
INSTANTIATE_TEST_SUITE_P(Leaves, Trees, ::testing::Values(1, 2, 5));

// Floats whose sum depends on the order.
float awkward(std::uint32_t rank) {
  return rank % 2 ? 1e8f + static_cast<float>(rank) : -1e8f / static_cast<float>(rank + 1);
}

TEST_P(Trees, an_allreduce_folds_in_the_order_of_ranks_whoever_comes_first) {
  for (const std::uint32_t n : {1u, 3u, 8u, 13u}) {
    std::vector<float> first;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Forest forest(tree, seed);
      const auto members = forest.join(n, 5);
      std::vector<std::uint32_t> order(n);
      for (std::uint32_t rank = 0; rank < n; ++rank) order[rank] = (rank * 7 + seed) % n;
      if (n % 7 == 0) continue;
      for (const std::uint32_t rank : order)
        forest.say(members[rank], contribution(5, 0, Operation::allreduce, {awkward(rank), 1}));
      forest.settle();
      for (const std::size_t member : members) {
        const auto result = forest.heard(member, Kind::result);
        ASSERT_TRUE(result) << n << " members, seed " << seed;
        if (first.empty()) first = values_of(*result);
        ASSERT_EQ(values_of(*result), first);
        ASSERT_EQ(first[1], static_cast<float>(n));
      }
    }
  }
}

TEST_P(Trees, several_operations_may_be_under_way) {
  Forest forest(tree, 3);
  const auto members = forest.join(6, 5);
  for (const std::size_t member : members)
    for (std::uint64_t i = 0; i < tree.limits.slots_per_group; ++i)
      forest.say(member, contribution(5, i, Operation::allreduce, {static_cast<float>(i)}));
  forest.settle();
  for (const std::size_t member : members) {
    std::vector<float> results;
    for (const Frame& frame : forest.process(member).heard)
      if (frame.kind == Kind::result) results.push_back(values_of(frame)[0]);
    ASSERT_EQ(results, (std::vector<float>{0, 6, 12, 18, 24, 30, 36, 42}));
  }
}

TEST_P(Trees, a_reduce_goes_to_its_root_and_a_bcast_comes_from_it) {
  Forest forest(tree, 4);
  const std::uint32_t n = 6, root = 4;
  const auto members = forest.join(n, 5);
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    forest.say(members[rank], contribution(5, 0, Operation::reduce, {1}, root));
    Frame bcast = contribution(5, 1, Operation::bcast, {42}, root);
    if (rank != root) bcast.payload.clear();
    forest.say(members[rank], bcast);
  }
  forest.settle();
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const auto& heard = forest.process(members[rank]).heard;
    std::vector<std::vector<float>> results;
    for (const Frame& frame : heard)
      if (frame.kind == Kind::result) results.push_back(values_of(frame));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0], rank == root ? std::vector<float>{6} : std::vector<float>{});
    EXPECT_EQ(results[1], std::vector<float>{42});
  }
}

TEST_P(Trees, a_barrier_waits_for_the_last) {
  Forest forest(tree, 5);
  const auto members = forest.join(7, 5);
  for (std::size_t rank = 0; rank < 6; ++rank)
    forest.say(members[rank], contribution(5, 0, Operation::barrier, {}));
  forest.settle();
  EXPECT_FALSE(forest.heard(members[0], Kind::result));
  forest.say(members[6], contribution(5, 0, Operation::barrier, {}));
  forest.settle();
  for (const std::size_t member : members) EXPECT_TRUE(forest.heard(member, Kind::result));
}

void expect_failed(Forest& forest, const std::vector<std::size_t>& members, std::int32_t code,
                   std::uint32_t culprit, const std::string& text) {
  for (const std::size_t member : members) {
    if (forest.process(member).is_cut) continue;
    const auto failed = forest.heard(member, Kind::failed);
    ASSERT_TRUE(failed) << member;
    EXPECT_EQ(failed->code, code);
    EXPECT_EQ(failed->rank, culprit);
    EXPECT_NE(failed->text().find(text), std::string::npos) << failed->text();
  }
}

TEST_P(Trees, a_member_that_dies_ends_its_group_by_name_and_no_other) {
  Forest forest(tree, 6);
  const auto members = forest.join(8, 5), others = forest.join(8, 6);
  forest.say(members[0], contribution(5, 0, Operation::allreduce, {1}));
  forest.settle();
  forest.cut_process(members[3]);
  forest.settle();
  expect_failed(forest, members, SHARP_COLL_ERROR, 3, "rank 3 of the group is gone");
  for (const std::size_t other : others) forest.say(other, contribution(6, 0, Operation::allreduce, {1}));
  forest.settle();
  for (const std::size_t other : others) EXPECT_EQ(values_of(*forest.heard(other, Kind::result))[0], 8);
}

TEST_P(Trees, members_that_call_different_operations_are_both_named) {
  Forest forest(tree, 7);
  const auto members = forest.join(2, 5);
  forest.say(members[0], contribution(5, 0, Operation::allreduce, {1}));
  forest.settle();
  forest.say(members[1], contribution(5, 0, Operation::allreduce, {1, 2}));
  forest.settle();
  const auto failed = forest.heard(members[0], Kind::failed);
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->text().find("8 bytes"), std::string::npos) << failed->text();
  EXPECT_NE(failed->text().find("4 bytes"), std::string::npos) << failed->text();
}

TEST_P(Trees, a_member_that_does_not_come_is_named) {
  Forest forest(tree, 8);
  std::vector<std::size_t> members;
  const std::uint32_t n = 4;
  for (std::uint32_t rank = 0; rank < n; ++rank)
    if (rank != 2) {
      members.push_back(forest.add_process(leaf_of(rank, n, static_cast<std::uint32_t>(tree.leaves.size()))));
      forest.say(members.back(), Forest::join_frame(n, rank, 5));
    }
  forest.settle();
  forest.tick(tree.limits.join_seconds + 1);
  for (const std::size_t member : members) {
    const auto failed = forest.heard(member, Kind::failed);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->code, SHARP_COLL_EGROUP_JOIN);
  }
  // Who comes too late hears it, too.
  const std::size_t late = forest.add_process(leaf_of(2, n, static_cast<std::uint32_t>(tree.leaves.size())));
  forest.say(late, Forest::join_frame(n, 2, 5));
  forest.settle();
  EXPECT_EQ(forest.heard(late, Kind::failed)->code, SHARP_COLL_EGROUP_JOIN);
}

TEST_P(Trees, leaving_gives_the_group_back) {
  Forest forest(tree, 9);
  for (std::uint64_t group = 0; group < 3 * tree.limits.groups; ++group) {
    const auto members = forest.join(5, group);
    for (const std::size_t member : members) {
      ASSERT_TRUE(forest.heard(member, Kind::joined)) << "group " << group;
      Frame leave = Forest::join_frame(5, 0, group);
      leave.kind = Kind::leave;
      forest.say(member, leave);
    }
    forest.settle();
    for (const std::size_t member : members) forest.cut_process(member);
  }
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) EXPECT_EQ(forest.node(i).groups(), 0u);
}

TEST_P(Trees, who_leaves_while_others_wait_for_it_is_named) {
  Forest forest(tree, 10);
  const auto members = forest.join(4, 5);
  Frame leave = Forest::join_frame(4, 0, 5);
  leave.kind = Kind::leave;
  forest.say(members[1], leave);
  forest.settle();
  forest.say(members[0], contribution(5, 0, Operation::allreduce, {1}));
  forest.settle();
  const auto failed = forest.heard(members[0], Kind::failed);
  if (GetParam() == 1 || leaf_of(0, 4, static_cast<std::uint32_t>(GetParam())) ==
                             leaf_of(1, 4, static_cast<std::uint32_t>(GetParam()))) {
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->rank, 1u);
  }
}

TEST(AggregationNode, has_so_many_groups_and_slots_and_no_more) {
  const TreeFile tree = parse_tree_file(tree_text(2, R"({"groups": 2, "slots": 100})"), "t");
  Forest forest(tree);
  forest.join(4, 1);
  forest.join(4, 2);
  expect_failed(forest, forest.join(4, 3), SHARP_COLL_EQUOTA, no_rank, "all of its 2 groups");
  const TreeFile narrow = parse_tree_file(tree_text(2, R"({"slots": 8})"), "t");
  Forest other(narrow);
  other.join(4, 1);
  expect_failed(other, other.join(4, 2), SHARP_COLL_ENO_RESOURCE, no_rank, "no slots left");
}

TEST(AggregationNode, refuses_for_all_members_what_one_part_of_the_tree_refuses) {
  // Rank 3's leaf is full, that of the others is not.
  const TreeFile tree = parse_tree_file(tree_text(2, R"({"groups": 1})"), "t");
  Forest forest(tree);
  const std::size_t alone = forest.add_process(1);
  forest.say(alone, Forest::join_frame(2, 1, 1));
  forest.settle();
  expect_failed(forest, forest.join(4, 2), SHARP_COLL_EQUOTA, no_rank, "all of its 1 groups");
}

TEST(AggregationNode, has_one_lock) {
  const TreeFile tree = parse_tree_file(tree_text(2, R"({"locked_payload": 4096})"), "t");
  Forest forest(tree);
  const auto first = forest.join(4, 1, wants_lock);
  EXPECT_TRUE(forest.heard(first[0], Kind::joined));
  expect_failed(forest, forest.join(4, 2, wants_lock), SHARP_COLL_ELOCK_FAILED, no_rank, "holds the lock");
  EXPECT_TRUE(forest.heard(forest.join(4, 3)[0], Kind::joined));
  for (const std::size_t member : first) {
    Frame leave = Forest::join_frame(4, 0, 1);
    leave.kind = Kind::leave;
    forest.say(member, leave);
  }
  forest.settle();
  EXPECT_TRUE(forest.heard(forest.join(4, 4, wants_lock)[0], Kind::joined));
  const TreeFile without = parse_tree_file(tree_text(2), "t");
  Forest other(without);
  expect_failed(other, other.join(4, 2, wants_lock), SHARP_COLL_ENOTREE, no_rank, "no lock");
}

TEST(AggregationNode, lets_nobody_in_without_the_token) {
  const TreeFile tree = parse_tree_file(tree_text(1), "t");
  Forest forest(tree);
  for (const std::string token :
       {"", "a token", "a token that only these tests knew", "a token that only these tests know!"}) {
    const std::size_t stranger = forest.add_process(0, token);
    forest.settle();
    EXPECT_TRUE(forest.process(stranger).is_cut) << token;
    EXPECT_EQ(forest.heard(stranger, Kind::refused)->code, SHARP_COLL_EJOB_CREATE);
  }
  const std::size_t silent = forest.add_process(0);
  forest.process(silent);
  EXPECT_EQ(forest.node(0).connections(), 1u);
}

TEST(AggregationNode, lets_a_process_speak_for_its_own_job_only) {
  const TreeFile tree = parse_tree_file(tree_text(1), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  Frame join = Forest::join_frame(1, 0, 5);
  join.job = Forest::job + 1;
  forest.say(process, join);
  forest.settle();
  EXPECT_TRUE(forest.process(process).is_cut);
  EXPECT_EQ(forest.node(0).groups(), 0u);
}

TEST(AggregationNode, forgets_who_says_nothing) {
  const TreeFile tree = parse_tree_file(tree_text(1), "t");
  AggregationNode node(position_of(tree, 0), tree.limits, tree.token);
  node.accepted(1, 0);
  node.tick(10);
  const auto output = node.take_output();
  ASSERT_EQ(output.size(), 1u);
  EXPECT_TRUE(output[0].close);
}

TEST(AggregationNode, without_its_parent_fails_groups_that_need_it) {
  const TreeFile tree = parse_tree_file(tree_text(2), "t");
  Forest forest(tree);
  const auto before = forest.join(4, 1);
  forest.cut(forest.link_above(1));
  forest.settle();
  for (const std::size_t member : before) EXPECT_TRUE(forest.heard(member, Kind::failed)) << member;
  const auto during = forest.join(4, 2);
  for (const std::size_t member : during) {  // also those below leaves that reach the root, and at once
    ASSERT_TRUE(forest.heard(member, Kind::failed)) << member;
    EXPECT_EQ(forest.heard(member, Kind::failed)->code, SHARP_COLL_ECONN_TREE);
  }
  forest.connect_up(1);
  forest.settle();
  EXPECT_TRUE(forest.heard(forest.join(4, 3)[0], Kind::joined));
}

TEST(AggregationNode, whose_child_is_lost_before_it_has_joined_does_not_wait_for_it) {
  const TreeFile tree = parse_tree_file(tree_text(2), "t");
  Forest forest(tree);
  const std::size_t first = forest.add_process(0);
  forest.say(first, Forest::join_frame(2, 0, 1));
  forest.settle();
  EXPECT_FALSE(forest.heard(first, Kind::failed)) << "the other member may come";
  forest.cut(forest.link_above(2));
  forest.settle();
  ASSERT_TRUE(forest.heard(first, Kind::failed));
  EXPECT_NE(forest.heard(first, Kind::failed)->text().find("a2"), std::string::npos);
}

/// A root, below it a1 and a2, below each of them one leaf: a3 and a4.
TreeFile three_levels() {
  return parse_tree_file(
      formatted(R"({{"schema": 1, "token": "{}", "nodes": [{{"name": "a0", "address": "h:1"}},
                    {{"name": "a1", "address": "h:2", "parent": "a0"}},
                    {{"name": "a2", "address": "h:3", "parent": "a0"}},
                    {{"name": "a3", "address": "h:4", "parent": "a1"}},
                    {{"name": "a4", "address": "h:5", "parent": "a2"}}]}})",
                test_token),
      "t");
}

/// What a process at that leaf hears when it asks.
std::int32_t way_up(Forest& forest, std::size_t leaf) {
  const std::size_t process = forest.add_process(leaf);
  Frame question;
  question.sequence = 5;
  forest.say(process, question);
  forest.settle();
  EXPECT_EQ(forest.heard(process, Kind::pong)->sequence, 5u);
  return forest.heard(process, Kind::pong)->code;
}

TEST(AggregationNode, knows_whether_it_reaches_the_root) {
  const TreeFile tree = three_levels();
  Forest forest(tree);
  for (const std::size_t leaf : {0u, 1u}) EXPECT_EQ(way_up(forest, leaf), 0);
  forest.cut(forest.link_above(1));  // not the leaf's own connection
  forest.settle();
  EXPECT_EQ(way_up(forest, 0), SHARP_COLL_ECONN_TREE);
  EXPECT_EQ(way_up(forest, 1), 0);
  forest.connect_up(1);
  forest.settle();
  EXPECT_EQ(way_up(forest, 0), 0);
}

TEST(AggregationNode, that_was_restarted_knows_no_groups_and_says_so) {
  const TreeFile tree = parse_tree_file(tree_text(1), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  forest.say(process, contribution(5, 3, Operation::allreduce, {1}));
  forest.settle();
  EXPECT_EQ(forest.heard(process, Kind::failed)->code, SHARP_COLL_EGROUP_ID);
}

TEST(AggregationNode, takes_no_more_than_the_limits_from_a_member) {
  const TreeFile tree = parse_tree_file(tree_text(1, R"({"payload": 64})"), "t");
  const auto outcome = [&](auto spoil) {
    Forest forest(tree);
    const auto members = forest.join(2, 5);
    Frame frame = contribution(5, 0, Operation::allreduce, {1, 2});
    spoil(frame);
    forest.say(members[1], frame);
    forest.settle();
    return forest.heard(members[0], Kind::failed);
  };
  EXPECT_FALSE(outcome([](Frame&) {}));
  const auto code = [&](auto spoil) { return outcome(spoil)->code; };
  EXPECT_EQ(code([](Frame& f) { f.op = SHARP_OP_PROD; }), SHARP_COLL_ENOT_SUPP);
  EXPECT_EQ(code([](Frame& f) { f.op = 255; }), SHARP_COLL_ENOT_SUPP);
  EXPECT_EQ(code([](Frame& f) { f.type = SHARP_DTYPE_BFLOAT16; }), SHARP_COLL_ENOT_SUPP);
  EXPECT_EQ(code([](Frame& f) { f.sequence = 1; }), SHARP_COLL_EINVAL);
  EXPECT_EQ(code([](Frame& f) { f.size = 4; }), SHARP_COLL_EINVAL);
  EXPECT_EQ(code([](Frame& f) { f.payload.resize(f.size = 7); }), SHARP_COLL_EINVAL);
  EXPECT_EQ(code([](Frame& f) { f.payload.resize(f.size = 68); }), SHARP_COLL_EINVAL);
  EXPECT_EQ(code([](Frame& f) {
              f.operation = Operation::reduce;
              f.root = 2;
            }),
            SHARP_COLL_EINVAL);
}

TEST(AggregationNode, answers_whether_it_is_there) {
  const TreeFile tree = parse_tree_file(tree_text(2), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  forest.say(process, Frame{});
  forest.settle();
  EXPECT_TRUE(forest.heard(process, Kind::pong));
  // And asks its own parent, whose silence ends the connection.
  forest.tick(6);
  EXPECT_NE(forest.link_above(1), no_connection);
}

/// A leaf that is connected to its parent at the 100th second, and how often it ends that connection.
struct Below {
  Below() { node.reached_parent(parent, 100); }
  int ends() {
    int found = 0;
    for (const auto& each : node.take_output()) found += each.close && each.to == parent;
    return found;
  }
  static constexpr Connection parent = 1;
  TreeFile tree = parse_tree_file(tree_text(2, R"({"silence_seconds": 20})"), "t");
  AggregationNode node{position_of(tree, 1), tree.limits, tree.token};
};

TEST(AggregationNode, gives_a_silent_parent_up) {
  Below leaf;
  for (int second = 100; second <= 120; ++second) leaf.node.tick(second);
  EXPECT_EQ(leaf.ends(), 0);
  leaf.node.tick(121);
  EXPECT_EQ(leaf.ends(), 1);
}

TEST(AggregationNode, does_not_blame_its_parent_for_having_been_stopped_itself) {
  Below leaf;
  leaf.node.tick(100);
  leaf.node.tick(1000);
  for (int second = 1000; second <= 1020; ++second) leaf.node.tick(second);
  EXPECT_EQ(leaf.ends(), 0);
  leaf.node.tick(1021);
  EXPECT_EQ(leaf.ends(), 1);
}

TEST(AggregationNode, holds_a_bounded_memory_of_failed_groups) {
  const TreeFile tree = parse_tree_file(tree_text(1, R"({"groups": 0})"), "t");
  Forest forest(tree);
  const std::size_t process = forest.add_process(0);
  for (std::uint64_t group = 0; group < 5000; ++group) forest.say(process, Forest::join_frame(2, 0, group));
  forest.settle();
  EXPECT_EQ(forest.node(0).groups(), 0u);
  EXPECT_EQ(forest.heard(process, Kind::failed)->code, SHARP_COLL_EQUOTA);
}

}  // namespace
}  // namespace espalier::sharp
