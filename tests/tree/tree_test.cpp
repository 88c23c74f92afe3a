#include "tree/tree.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tree/describe.hpp"

namespace espalier::tree {
namespace {

Tree small() {
  Tree tree = unconnected(5, 2);
  attach(tree, 2, 0);
  attach(tree, 2, 4);
  attach(tree, 4, 1);
  attach(tree, 1, 3);
  return tree;
}

TEST(Tree, IsMeasuredAndPrinted) {
  Tree tree = small();
  EXPECT_EQ(print(tree), "2(0 4(1(3)))");
  EXPECT_EQ(depth(tree), 3);
  EXPECT_EQ(max_fan_out(tree), 2);
  EXPECT_EQ(subtree(tree, 4), (std::vector{1, 3, 4}));
  EXPECT_EQ(flaw(tree), std::nullopt);
}

TEST(Tree, FlawsAreFound) {
  Tree tree = small();
  tree.parent[0] = 4;
  EXPECT_EQ(flaw(tree), "rank 2 is not the parent of its child 0");
  tree = small();
  tree.children[2] = {0, 4, 0};
  EXPECT_EQ(flaw(tree), "rank 0 is served twice");
  tree = small();
  tree.children[1].clear();
  EXPECT_EQ(flaw(tree), "rank 3 is not served");
  tree = small();
  tree.parent[2] = 3;
  EXPECT_EQ(flaw(tree), "the root 2 has a parent");
  tree = small();
  tree.root = 5;
  EXPECT_EQ(flaw(tree), "the root 5 is no rank");
  tree = small();
  tree.parent[3] = -1;
  tree.children[1].clear();
  EXPECT_EQ(flaw(tree), "rank 3 has no parent");
  tree = small();
  tree.children[0] = {9};
  EXPECT_EQ(flaw(tree), "rank 0 has the child 9, which is no rank");
  tree = small();
  tree.children.pop_back();
  EXPECT_EQ(flaw(tree), "parents and children are of different number");
  Tree circle{0, {-1, 2, 1}, {{}, {2}, {1}}};
  EXPECT_EQ(flaw(circle), "some ranks hang in a circle apart from the root");
}

TEST(Tree, MayBeVeryDeep) {
  Tree chain = unconnected(300000, 0);
  for (int rank = 1; rank < chain.size(); ++rank) attach(chain, rank - 1, rank);
  EXPECT_EQ(flaw(chain), std::nullopt);
  EXPECT_EQ(depth(chain), 299999);
  EXPECT_EQ(print(chain).substr(0, 10), "0(1(2(3(4(");
}

TEST(Tree, Json) {
  auto json = to_json(small());
  EXPECT_EQ(json["root"], 2);
  EXPECT_EQ(json["parent"], (std::vector{2, 4, -1, 1, 2}));
  EXPECT_EQ(json["children"][2], (std::vector{0, 4}));
  EXPECT_EQ(json["depth"], 3);
  EXPECT_EQ(json["fan_out"], 2);
  EXPECT_EQ(json["text"], "2(0 4(1(3)))");
}

}  // namespace
}  // namespace espalier::tree
