#include "sharp/tree_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "base/error.hpp"
#include "base/format.hpp"
#include "tests/sharp/trees.hpp"

namespace espalier::sharp {
namespace {

TEST(TreeFile, says_who_is_where) {
  const TreeFile tree = parse_tree_file(tree_text(3, R"({"groups": 5, "payload": 512})", 7000), "t");
  EXPECT_EQ(tree.token, test_token);
  EXPECT_EQ(tree.limits.groups, 5u);
  EXPECT_EQ(tree.limits.payload, 512u);
  EXPECT_EQ(tree.root(), 0);
  EXPECT_EQ(tree.leaves, (std::vector{1, 2, 3}));
  EXPECT_EQ(tree.nodes[2].port, "7002");
  EXPECT_EQ(tree.nodes[0].first_leaf, 0);
  EXPECT_EQ(tree.nodes[0].last_leaf, 3);
  EXPECT_EQ(tree.nodes[2].first_leaf, 1);
}

TEST(TreeFile, every_member_belongs_to_the_leaf_whose_block_it_is_in) {
  for (std::uint32_t leaves = 1; leaves < 9; ++leaves)
    for (std::uint32_t members = 1; members < 40; ++members)
      for (std::uint32_t member = 0; member < members; ++member) {
        const std::uint32_t leaf = leaf_of(member, members, leaves);
        ASSERT_LE(first_member(leaf, members, leaves), member);
        ASSERT_LT(member, first_member(leaf + 1, members, leaves));
      }
}

void expect_refused(const std::string& text, const std::string& because) {
  try {
    parse_tree_file(text, "some.json");
    ADD_FAILURE() << "taken: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("some.json"), std::string::npos) << error.what();
  }
}

std::string with_nodes(const std::string& nodes) {
  return formatted(R"({{"schema": 1, "token": "{}", "nodes": {}}})", test_token, nodes);
}

TEST(TreeFile, refuses_what_is_no_tree) {
  expect_refused("[", "not JSON");
  expect_refused("{}", "schema");
  expect_refused(R"({"schema": 1, "nodes": []})", "token");
  expect_refused(R"({"schema": 1, "token": "short", "nodes": []})", "16 to 256");
  expect_refused(with_nodes("[]"), "1 to 4096");
  expect_refused(with_nodes("[1]"), "no object");
  expect_refused(with_nodes(R"([{"name": "a", "address": "nowhere"}])"), "host:port");
  expect_refused(with_nodes(R"([{"name": "a", "address": "h:1"}, {"name": "a", "address": "h:2"}])"),
                 "two nodes");
  expect_refused(with_nodes(R"([{"name": "a", "address": "h:1"}, {"name": "b", "address": "h:2"}])"),
                 "one root");
  expect_refused(with_nodes(R"([{"name": "a", "address": "h:1", "parent": "z"}])"), "no node of this file");
  expect_refused(
      with_nodes(R"([{"name": "r", "address": "h:1"}, {"name": "a", "address": "h:1", "parent": "b"},
                                {"name": "b", "address": "h:2", "parent": "a"}])"),
      "above itself");
  expect_refused(tree_text(1, R"({"payload": 8})"), "64");
  expect_refused(tree_text(1, R"({"slots_per_group": -1})"), "slots_per_group");
}

TEST(TreeFile, refuses_a_file_that_others_may_read) {
  const std::string path = ::testing::TempDir() + "/tree_file_test.json";
  std::ofstream(path) << tree_text(1);
  chmod(path.c_str(), 0644);
  EXPECT_THROW(read_tree_file(path), Error);
  chmod(path.c_str(), 0600);
  EXPECT_EQ(read_tree_file(path).nodes.size(), 1u);
  std::remove(path.c_str());
  EXPECT_THROW(read_tree_file(path), Error);
}

}  // namespace
}  // namespace espalier::sharp
