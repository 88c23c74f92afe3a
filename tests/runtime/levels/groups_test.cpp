#include "runtime/levels/groups.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "machine/levels/levels.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using machine::GroupSegment;
using machine::LevelsLayout;

std::vector<int> order_of(const char* text, const std::vector<int>& node_of, int root = 0) {
  const auto groups = tree::parse_groups(text, static_cast<int>(node_of.size()));
  return speakers_first(tree::level_groups(groups, root), node_of);
}

TEST(LevelsGroups, WhoSpeaksForItsNodeComesFirst) {
  EXPECT_EQ(order_of("((0 1) (2 3 4))", {0, 0, 1, 1, 1}), (std::vector{0, 2, 1, 3, 4}));
  EXPECT_EQ(order_of("((0 1) (2 3 4))", {0, 0, 1, 1, 1}, 4), (std::vector{4, 0, 1, 2, 3}));
  EXPECT_EQ(order_of("((0 2) (1 3))", {0, 1, 0, 1}), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(order_of("((0 1) 2)", {0, 0, 0}), (std::vector{0, 1, 2})) << "one node: no rank speaks";
}

TEST(LevelsGroups, TwoSpeakersOfANodeAreRefused) {
  EXPECT_THROW(order_of("((0 2) (1 3))", {0, 0, 1, 1}), LevelsArgument);
  EXPECT_THROW(order_of("(0 1 2)", {0, 0, 1}), LevelsArgument);
}

// A segment lies on its leader's node, behind those that lie there already.
TEST(LevelsGroups, SegmentsLieOnTheirLeadersNodes) {
  const LevelsLayout layout(tree::parse_groups("((0 1) (2 3))", 4), 2, 64, 64, {0, 0, 1, 1});
  const auto& all = layout.segments();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(layout.text(), "nodes(virtual(0 1) virtual(2 3))");
  EXPECT_TRUE(!all[0].over_nodes && !all[1].over_nodes && all[2].over_nodes);
  EXPECT_TRUE(all[0].node == 0 && all[1].node == 1 && all[2].node == 1);
  const std::size_t each = 256 + LevelsLayout::waits_bytes;  // with what its waits need
  EXPECT_TRUE(all[0].offset == 0 && all[1].offset == 0 && all[2].offset == each);
  EXPECT_EQ(LevelsLayout::note_of(all[2], 1), each + each + LevelsLayout::note_bytes);
  EXPECT_EQ(layout.bytes(), each + each + 2 * LevelsLayout::note_bytes);
}

TEST(LevelsGroups, AReorderedBootstrapGathersInItsOrder) {
  testing::Board board(3);
  testing::run_ranks(3, [&](int rank) {
    const Bootstrap bootstrap = reordered(testing::bootstrap_of(board, rank), {2, 0, 1});
    EXPECT_EQ(bootstrap.rank, (rank + 1) % 3);
    EXPECT_EQ(exchange(bootstrap, rank), (std::vector{2, 0, 1}));
  });
}

}  // namespace
}  // namespace espalier::runtime
