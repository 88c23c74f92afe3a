// Each formula by cases worked out by hand.
#include "plan/cost/rounds.hpp"

#include <gtest/gtest.h>

#include "tests/plan/making.hpp"

namespace espalier::plan {
namespace {

using testing::wire;

TEST(Cost, AMessageIsLogGPs) {
  EXPECT_EQ(hop(wire, 0), 120);
  EXPECT_EQ(hop(wire, 10), 140);
  EXPECT_EQ(on_port(wire, 10), 40) << "the gap";
  EXPECT_EQ(on_port(wire, 30), 60) << "the bytes";
  EXPECT_EQ(interval(wire, 0), 40);
  EXPECT_EQ(interval(Wire{100, 50, 40, 2}, 0), 50) << "the overhead";
  EXPECT_EQ(message(wire, 10), (Cost{140, 10, 40, 1}));
  EXPECT_EQ(exchange(wire, 30), (Cost{180, 20, 60, 1}));
  EXPECT_EQ(fold(wire, 10) + copy(wire, 10), (Cost{15, 15, 0, 0}));
}

TEST(Cost, Dissemination) {
  EXPECT_EQ(dissemination(wire, 1), Cost{});
  EXPECT_EQ(dissemination(wire, 2), (Cost{120, 20, 40, 1}));
  EXPECT_EQ(dissemination(wire, 5), (Cost{360, 60, 120, 3}));
  EXPECT_EQ(dissemination(wire, 16).rounds, 4);
  // Three messages a round, each a gap after the one before.
  EXPECT_EQ(dissemination(wire, 4, 4), (Cost{120 + 2 * 40, 60, 120, 1}));
  EXPECT_EQ(dissemination(wire, 16, 4), (Cost{400, 120, 240, 2}));
  EXPECT_EQ(dissemination(wire, 6, 4), (Cost{200 + 120, 80, 160, 2})) << "one partner is left for the second";
}

TEST(Cost, RecursiveDoubling) {
  EXPECT_EQ(recursive_doubling(wire, 4, 10), (Cost{300, 60, 80, 2}));
  // The fifth hands over its vector, which is folded, and gets the result.
  EXPECT_EQ(recursive_doubling(wire, 5, 10).time, 300 + 140 + 10 + 140);
  EXPECT_EQ(recursive_doubling(wire, 5, 10).rounds, 4);
}

TEST(Cost, Rabenseifner) {
  // 20 and 10 bytes, there and back; 20 + 10 folded.
  EXPECT_EQ(allreduce_rabenseifner(wire, 4, 40), (Cost{160 + 140 + 30 + 160 + 140, 80 + 30, 160, 4}));
  EXPECT_EQ(allreduce_rabenseifner(wire, 6, 40).time, 630 + 200 + 40 + 200);
  EXPECT_EQ(reduce_rabenseifner(wire, 6, 40).time, 630 + 200 + 40) << "no rank waits for a way back";
}

TEST(Cost, Ring) {
  EXPECT_EQ(ring(wire, 4, 40), (Cost{6 * 140 + 3 * 10, 6 * 20 + 30, 6 * 40, 6}));
  EXPECT_EQ(ring(wire, 1, 40), Cost{});
}

TEST(Cost, GatherAll) {
  // Blocks: 1, 2, and the fifth.
  EXPECT_EQ(gather_all(wire, 5, 10).time, 5 + 140 + 160 + 140 + 4 * 10);
  EXPECT_EQ(gather_all(wire, 5, 10).rounds, 3);
  // Three blocks of 10, then four for one partner and two for the last.
  EXPECT_EQ(gather_all(wire, 10, 10, 4).time, 5 + (140 + 80) + (200 + 40) + 90);
}

TEST(Cost, ScatterAllgather) {
  EXPECT_EQ(scatter_allgather(wire, 4, 40).time, 160 + 140 + 3 * 140);
  EXPECT_EQ(scatter_allgather(wire, 4, 40).rounds, 2 + 3);
  // The third leader's slice leaves first, the second's an interval later.
  EXPECT_EQ(scatter_allgather(wire, 3, 30).time, 40 + 140 + 2 * 140);
  EXPECT_EQ(scatter_allgather(wire, 1, 30), Cost{});
}

TEST(Cost, ScanByDoubling) {
  EXPECT_EQ(scan_doubling(wire, 1, 10), Cost{});
  EXPECT_EQ(scan_doubling(wire, 2, 10).time, 140 + 5) << "what comes is the result";
  EXPECT_EQ(scan_doubling(wire, 4, 10).time, 2 * 140 + 5 + 2 * 10) << "folded on, and folded in";
  EXPECT_EQ(scan_doubling(wire, 5, 10).time, 3 * 140 + 5 + 4 * 10);
}

TEST(Cost, Chain) {
  EXPECT_EQ(chain(wire, 2, 10), (Cost{140, 10, 40, 1}));
  EXPECT_EQ(chain(wire, 4, 10), (Cost{3 * 140 + 2 * 10, 20 + 10, 40, 3}));
}

TEST(Cost, ScansOfMixedRanks) {
  // Two nodes of two ranks: 20 bytes each, copied in, sent, three folds of 10, copied out.
  EXPECT_EQ(scan_gather_all(wire, 2, 2, 10).time, 10 + 160 + 30 + 10);
  // Half of 20 bytes goes and comes back; three folds of 5; results, 20 bytes, are stored.
  EXPECT_EQ(scan_transpose(wire, 2, 2, 10).time, 10 + 140 + 15 + 10 + 140 + 10);
  // Two messages each way, the second a gap later.
  EXPECT_EQ(scan_transpose(wire, 3, 3, 10).time, 15 + (140 + 40) + 8 * 10.0 / 3 + 15 + (140 + 40) + 15);
  EXPECT_EQ(scan_transpose(wire, 3, 3, 10).rounds, 2);
}

TEST(Cost, MoreBytesOrNodesNeverCostLess) {
  for (const double bytes : {0.0, 1.0, 100.0, 10000.0})
    for (int n = 2; n <= 64; n *= 2) {
      const auto grows = [&](auto cost) {
        EXPECT_LE(cost(n, bytes).time, cost(n, bytes + 1).time) << n << " leaders, " << bytes << " bytes";
        EXPECT_LE(cost(n, bytes).time, cost(2 * n, bytes).time) << n << " leaders, " << bytes << " bytes";
      };
      grows([](int k, double) { return dissemination(wire, k); });
      grows([](int k, double b) { return recursive_doubling(wire, k, b); });
      grows([](int k, double b) { return allreduce_rabenseifner(wire, k, b); });
      grows([](int k, double b) { return reduce_rabenseifner(wire, k, b); });
      grows([](int k, double b) { return ring(wire, k, b); });
      grows([](int k, double b) { return gather_all(wire, k, b); });
      grows([](int k, double b) { return scatter_allgather(wire, k, b); });
      grows([](int k, double b) { return scan_doubling(wire, k, b); });
      grows([](int k, double b) { return chain(wire, k, b); });
      grows([](int k, double b) { return scan_gather_all(wire, k, 4, b); });
    }
}

}  // namespace
}  // namespace espalier::plan
