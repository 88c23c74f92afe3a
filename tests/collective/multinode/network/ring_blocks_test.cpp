#include "collective/multinode/network/ring_blocks.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "collective/multinode/network/allgather_between.hpp"
#include "collective/multinode/stage/node_order.hpp"

namespace espalier::collective::multinode {
namespace {

using Edges = std::vector<std::size_t>;

/// Everything the paper demands of a cut, for any cut.
void expect_well_cut(const Edges& edges, std::size_t wanted, int carriers) {
  const RingBlocks blocks(edges, wanted, carriers);
  EXPECT_LE(blocks.count(), RingBlocks::most_ids);
  std::size_t id = 0;
  for (int node = 0; node < blocks.nodes(); ++node) {
    EXPECT_EQ(blocks.first_id(node), id) << "blocks are numbered through";
    const std::size_t begin = edges[static_cast<std::size_t>(node)];
    std::size_t end = begin, taken = 0, least = SIZE_MAX, most = 0;
    for (int carrier = 0; carrier < carriers; ++carrier) {
      const RingBlocks::Share share = blocks.share(node, carrier);
      EXPECT_EQ(share.first, taken) << "shares follow on each other";
      for (std::size_t i = 0; i < share.count; ++i) {
        const Stretch block = blocks.block(node, share.first + i);
        EXPECT_EQ(block.offset, end) << "no byte is left out, none goes twice";
        EXPECT_GT(block.bytes, 0u);
        EXPECT_LE(block.bytes, blocks.block_bytes());
        end += block.bytes;
      }
      taken += share.count;
      least = std::min(least, share.count);
      most = std::max(most, share.count);
    }
    EXPECT_EQ(taken, blocks.count(node));
    EXPECT_LE(most - least, 1u) << "NOTIFY eq. 4: even shares";
    EXPECT_EQ(end, edges[static_cast<std::size_t>(node) + 1]);
    id += blocks.count(node);
  }
  EXPECT_EQ(blocks.count(), id);
}

TEST(RingBlocks, EveryByteInOneBlockWhateverTheDistribution) {
  const std::size_t total = 100'003;
  for (const int nodes : {1, 2, 3, 7, 32}) {
    const auto n = static_cast<std::size_t>(nodes);
    Edges regular, decreasing, all_at_first(n + 1, total), all_at_last(n + 1, 0), nothing(n + 1, 0);
    for (std::size_t i = 0; i <= n; ++i) {
      regular.push_back(total * i / n);
      decreasing.push_back(total * (2 * n * i - i * i) / (n * n));
    }
    all_at_first.front() = 0;
    all_at_last.back() = total;
    for (const Edges& edges : {regular, decreasing, all_at_first, all_at_last, nothing})
      for (const std::size_t wanted : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, total, 2 * total})
        for (const int carriers : {1, 2, 3, 32}) expect_well_cut(edges, wanted, carriers);
  }
}

TEST(RingBlocks, EquationsOfThePaper) {
  // Two nodes of 10 and 7 blocks, three ranks each.
  const RingBlocks blocks(Edges{0, 9 * 100 + 1, 9 * 100 + 1 + 700}, 100, 3);
  EXPECT_EQ(blocks.block_bytes(), 100u);
  EXPECT_EQ(blocks.count(0), 10u);  // eq. 3: ceil(901 / 100)
  EXPECT_EQ(blocks.count(1), 7u);
  EXPECT_EQ(blocks.first_id(1), 10u);
  // eq. 4: (total + nProcLocal - iProcLocal - 1) / nProcLocal; listing 3: what the ranks before have
  const std::size_t counts[2][3] = {{4, 3, 3}, {3, 2, 2}}, firsts[2][3] = {{0, 4, 7}, {0, 3, 5}};
  for (int node = 0; node < 2; ++node)
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(blocks.share(node, k).count, counts[node][k]);
      EXPECT_EQ(blocks.share(node, k).first, firsts[node][k]);
    }
  EXPECT_EQ(blocks.block(0, 9).bytes, 1u);
}

TEST(RingBlocks, NumbersSufficeForAnySize) {
  // A terabyte, half of it at one node: blocks grow until there are numbers for all.
  const std::size_t tera = std::size_t{1} << 40;
  Edges edges = {0, tera / 2};
  for (int node = 1; node < 1000; ++node)
    edges.push_back(tera / 2 + tera / 2 * static_cast<std::size_t>(node) / 999);
  const RingBlocks blocks(edges, 1, 128);
  EXPECT_LE(blocks.count(), RingBlocks::most_ids);
  for (int k = 0; k < 128; ++k) EXPECT_LE(blocks.share(0, k).count, RingBlocks::most_of_a_share);
}

TEST(RingBlocks, TheOrderIsThatOfTheRing) {
  const RingBlocks blocks(Edges{0, 20, 30, 60, 60}, 10, 2);
  // To node 1, second carrier: from node 0, then 3 (nothing), then 2.
  const auto coming = detail::coming_blocks(blocks, 1, 1);
  ASSERT_EQ(coming.size(), 2u);
  EXPECT_EQ(coming[0].offset, 10u);
  EXPECT_EQ(coming[1].offset, 50u);
}

TEST(NodeOrder, BlocksOfANodeAreNeighbours) {
  const Placement placement = place_by(std::vector<int>{5, 7, 5, 7, 5});
  const std::vector<std::size_t> bytes = {1, 2, 4, 8, 16}, offsets = {9, 9, 9, 9, 9};
  const NodeOrder order = in_node_order(placement, Blocks{bytes, offsets});
  EXPECT_EQ(order.begin, (std::vector<std::size_t>{0, 21, 1, 23, 5}));
  EXPECT_EQ(order.edges, (std::vector<std::size_t>{0, 21, 31}));
  EXPECT_EQ(order.total(), 31u);
}

TEST(NodeOrder, PassesMoveEveryByteOnce) {
  const std::vector<std::size_t> bytes = {1000, 0, 3, 70, 500}, offsets = {0, 1000, 1000, 1003, 1073};
  const Blocks blocks{bytes, offsets};
  for (const std::size_t most : {std::size_t{1}, std::size_t{10}, std::size_t{333}, std::size_t{5000}}) {
    std::vector<std::size_t> moved(5);
    std::size_t from = 0, passes = 0;
    while (from < 1000) {
      const std::size_t to = end_of_pass(blocks, 5, from, most);
      const PartsOfBlocks<Blocks> parts{blocks, from, to};
      std::size_t sum = 0;
      for (int rank = 0; rank < 5; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        if (parts.bytes_of(rank) > 0) {
          EXPECT_EQ(parts.offset_of(rank), offsets[r] + moved[r]);
        }
        moved[r] += parts.bytes_of(rank);
        sum += parts.bytes_of(rank);
      }
      EXPECT_TRUE(sum <= most || to == from + 1) << sum << " bytes in a pass of " << most;
      ASSERT_GT(to, from);
      from = to;
      ++passes;
    }
    EXPECT_EQ(moved, bytes);
    if (most == 5000) {
      EXPECT_EQ(passes, 1u);
    }
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
