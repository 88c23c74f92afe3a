#include "tree/contiguous.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.hpp"

namespace espalier::tree {
namespace {

// The order in which a rank's result strings the ranks together.
void string_together(const ContiguousTree& made, int rank, std::vector<int>& order) {
  const auto& children = made.tree.children_of(rank);
  auto left = static_cast<std::size_t>(made.left[static_cast<std::size_t>(rank)]);
  for (std::size_t i = 0; i < left; ++i) string_together(made, children[i], order);
  order.push_back(rank);
  for (std::size_t i = left; i < children.size(); ++i) string_together(made, children[i], order);
}

void expect_right(int n, int root, int fan_out) {
  SCOPED_TRACE(testing::Message() << n << " ranks, root " << root << ", fan-out " << fan_out);
  ContiguousTree made = contiguous(n, root, fan_out);
  ASSERT_EQ(flaw(made.tree), std::nullopt);
  EXPECT_EQ(made.tree.root, root);
  EXPECT_LE(max_fan_out(made.tree), fan_out);
  EXPECT_LE(depth(made.tree), 1 + std::ceil(std::log(n) / std::log(fan_out) - 1e-9)) << print(made.tree);
  for (int rank = 0; rank < n; ++rank) {
    auto ranks = subtree(made.tree, rank);
    EXPECT_EQ(ranks.back() - ranks.front() + 1, static_cast<int>(ranks.size())) << "below " << rank;
    const auto& children = made.tree.children_of(rank);
    int left = made.left[static_cast<std::size_t>(rank)];
    ASSERT_LE(left, static_cast<int>(children.size()));
    for (int i = 0; i < static_cast<int>(children.size()); ++i) {
      EXPECT_EQ(children[static_cast<std::size_t>(i)] < rank, i < left);
    }
  }
  std::vector<int> order;
  string_together(made, root, order);
  for (int rank = 0; rank < n; ++rank) EXPECT_EQ(order[static_cast<std::size_t>(rank)], rank);
}

TEST(Contiguous, AllSmallCases) {
  for (int n = 1; n <= 20; ++n) {
    for (int root = 0; root < n; ++root) {
      for (int fan_out = 2; fan_out <= 6; ++fan_out) expect_right(n, root, fan_out);
    }
  }
}

TEST(Contiguous, RandomCases) {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    int n = 1 + static_cast<int>(random() % 1000);
    expect_right(n, static_cast<int>(random() % static_cast<unsigned>(n)),
                 2 + static_cast<int>(random() % 15));
    if (HasFailure()) return;
  }
}

TEST(Contiguous, Examples) {
  EXPECT_EQ(print(contiguous(7, 3, 2).tree), "3(1(0 2) 5(4 6))");
  EXPECT_EQ(print(contiguous(7, 0, 2).tree), "0(2(1 3) 5(4 6))");
  EXPECT_EQ(contiguous(7, 3, 2).left, (std::vector{0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(print(contiguous(5, 4, 8).tree), "4(0 1 2 3)");
}

TEST(Contiguous, RefusesWhatCannotBe) {
  EXPECT_THROW(contiguous(0, 0, 2), Error);
  EXPECT_THROW(contiguous(4, 4, 2), Error);
  EXPECT_THROW(contiguous(4, -1, 2), Error);
  EXPECT_THROW(contiguous(4, 0, 1), Error);
}

}  // namespace
}  // namespace espalier::tree
