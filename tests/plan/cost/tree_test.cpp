#include "plan/cost/tree.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/plan/making.hpp"
#include "tree/compose.hpp"

namespace espalier::plan {
namespace {

using testing::wire;

tree::Tree over(int n, const char* spec) {
  return tree::compose(topology::flat_group(n), tree::parse_spec(spec), 0);
}

TEST(CostTree, Down) {
  EXPECT_EQ(tree_down(over(1, "flat"), wire, 10), Cost{});
  EXPECT_EQ(tree_down(over(4, "flat"), wire, 10), (Cost{140 + 2 * 40, 3 * 10, 3 * 40, 1}));
  EXPECT_EQ(tree_down(over(4, "chain"), wire, 10), (Cost{3 * 140, 20, 40, 3}));
  EXPECT_EQ(tree_down(over(4, "knomial:2"), wire, 10), (Cost{2 * 140, 20, 2 * 40, 2}));
  // The last leaf is twice a second child.
  EXPECT_EQ(tree_down(over(7, "kary:2"), wire, 10), (Cost{2 * (40 + 140), 30, 2 * 40, 2}));
}

TEST(CostTree, Up) {
  EXPECT_EQ(tree_up(over(1, "flat"), wire, 10), Cost{});
  EXPECT_EQ(tree_up(over(2, "flat"), wire, 10), (Cost{140 + 10, 10 + 10, 40, 1}));
  // Three come at the same time and are taken one after the other.
  EXPECT_EQ(tree_up(over(4, "flat"), wire, 10), (Cost{140 + 2 * 40 + 3 * 10, 3 * 10 + 30, 3 * 40, 1}));
  // The root's own leaf has come long before the subtree.
  EXPECT_EQ(tree_up(over(4, "knomial:2"), wire, 10).time, (140 + 10) + 140 + 2 * 10);
  EXPECT_EQ(tree_up(over(7, "kary:2"), wire, 10).time, 2 * (140 + 40 + 20));
}

TEST(CostTree, HiersBoundHoldsForItsBinaryTree) {
  for (const double bytes : {0.0, 10.0, 5000.0})
    for (int nodes = 3; nodes <= 1023; nodes = 2 * nodes + 1) {
      const double alpha = interval(wire, bytes) / hop(wire, bytes);
      const double levels = std::log2(nodes + 1) - 1;
      EXPECT_NEAR(tree_down(over(nodes, "kary:2"), wire, bytes).time, (1 + alpha) * levels * hop(wire, bytes),
                  1e-6)
          << "a complete tree of " << nodes;
    }
}

TEST(CostTree, MoreBytesOrRanksNeverCostLess) {
  for (const char* spec : {"flat", "chain", "kary:2", "kary:4", "knomial:2", "knomial:4"})
    for (int n = 1; n <= 40; ++n) {
      EXPECT_LE(tree_down(over(n, spec), wire, 10).time, tree_down(over(n + 1, spec), wire, 10).time)
          << spec << n;
      EXPECT_LE(tree_down(over(n, spec), wire, 10).time, tree_down(over(n, spec), wire, 11).time)
          << spec << n;
      EXPECT_LE(tree_up(over(n, spec), wire, 10).time, tree_up(over(n + 1, spec), wire, 10).time)
          << spec << n;
      EXPECT_LE(tree_up(over(n, spec), wire, 10).time, tree_up(over(n, spec), wire, 11).time) << spec << n;
    }
}

}  // namespace
}  // namespace espalier::plan
