#include "plan/cost/join.hpp"

#include <gtest/gtest.h>

#include "plan/plan.hpp"

namespace espalier::plan {
namespace {

SegmentCost segment(double gather, double time, double cpu, double port, double release) {
  return {gather, {time, cpu, port, 1}, release};
}

TEST(CostJoin, OneSegmentIsItsStages) {
  const SegmentCost one = segment(10, 100, 5, 30, 20);
  EXPECT_EQ(joined_time(one, 0, one), 130);
}

TEST(CostJoin, TheSecondSegmentIsGatheredWhileTheFirstTravels) {
  // Gathered at 10 and 25 (5 for the first message); on the network from 10 to 110 and, behind the port's 30,
  // from 40 to 140; released from 110 to 130 and from 140 to 160.
  const SegmentCost one = segment(10, 100, 5, 30, 20);
  EXPECT_EQ(joined_time(one, 1, one), 160);
}

TEST(CostJoin, TheLastSegmentMayBeShort) {
  // As above, but the second is released from 130, when the first is, to 131.
  EXPECT_EQ(joined_time(segment(10, 100, 5, 30, 20), 1, segment(1, 50, 5, 3, 1)), 131);
}

TEST(CostJoin, ThePaceIsThatOfTheBusiest) {
  const SegmentCost port = segment(0, 100, 5, 30, 0);
  EXPECT_EQ(joined_time(port, 99, port), 100 + 99 * 30) << "the wire";
  const SegmentCost node = segment(20, 100, 5, 30, 40);
  EXPECT_NEAR(joined_time(node, 999, node) / 1000, 20 + 5 + 40, 1) << "the leader";
  // No more than the window may be under way.
  const SegmentCost far = segment(0, 1000, 0, 1, 0);
  EXPECT_NEAR(joined_time(far, 799, far), 1000.0 * 800 / segments_under_way, 1000);
}

TEST(CostJoin, BetweenItsStagesAloneAndAllOfThemInSequence) {
  for (const double gather : {0.0, 3.0, 50.0})
    for (const double release : {0.0, 7.0, 90.0})
      for (const double port : {1.0, 30.0, 100.0})
        for (const std::size_t full : {0u, 1u, 2u, 6u, 7u, 8u, 9u, 40u}) {
          const SegmentCost each = segment(gather, 100, 10, port, release);
          const SegmentCost last = segment(gather / 2, 60, 10, port / 2, release / 2);
          const SegmentCost each_network = segment(0, 100, 10, port, 0),
                            last_network = segment(0, 60, 10, port / 2, 0);
          const double count = static_cast<double>(full);
          const double network = joined_time(each_network, full, last_network);
          const double node = (gather + release) * (count + 0.5);
          const double both = joined_time(each, full, last);
          EXPECT_LE(both, network + node + 1e-9);
          EXPECT_GE(both, network);
          EXPECT_GE(both, node);
          EXPECT_LE(both, joined_time(each, full + 1, last)) << "one more";
          EXPECT_LE(both, joined_time(each, full, each)) << "a longer one";
        }
}

TEST(CostJoin, OverlapIsReal) {
  // As much to do on the nodes as between them: in sequence it would take twice as long.
  const SegmentCost even = segment(15, 30, 0, 30, 15);
  EXPECT_LT(joined_time(even, 99, even), 0.6 * 100 * 60);
}

}  // namespace
}  // namespace espalier::plan
