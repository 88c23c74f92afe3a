#include "runtime/node/group/group_plans.hpp"

#include <gtest/gtest.h>

#include "memory/flag_line.hpp"
#include "tests/runtime/processes.hpp"

namespace espalier::runtime {
namespace {

// In processes of their own (run_ranks): plans ask for settings, and the parent of other tests' ranks must not.
GroupPlans plans_of(int ranks, double ranks_per_core) {
  NodeShare share;
  share.layout.ranks = ranks;
  share.ranks_per_core = ranks_per_core;
  return {share, 0, topology::flat_group(ranks)};
}

std::size_t limit(const GroupPlans& plans, Collective collective) {
  return plans.slots_from[static_cast<std::size_t>(collective)];
}

TEST(GroupPlans, ShortCallsNeedNoSlots) {
  testing::run_ranks(1, [](int) {
    for (const double ranks_per_core : {0.5, 4.0}) {
      const GroupPlans plans = plans_of(4, ranks_per_core);
      EXPECT_EQ(limit(plans, Collective::barrier), GroupPlans::never.front());
      for (const Collective collective :
           {Collective::bcast, Collective::reduce, Collective::allreduce, Collective::allgather})
        EXPECT_EQ(limit(plans, collective), memory::inline_capacity + 1) << to_string(collective);
      EXPECT_EQ(limit(plans, Collective::scatter), memory::inline_capacity / 4 + 1);
    }
  });
}

// What goes in groups, or up a tree packed, is soon longer than a line.
TEST(GroupPlans, ShortCallsOfManyRanksMayNeedSlots) {
  testing::run_ranks(1, [](int) {
    const GroupPlans plans = plans_of(100, 0.5);
    for (const Collective collective : {Collective::allgather, Collective::alltoall, Collective::scan,
                                        Collective::exscan, Collective::reduce_scatter_block})
      EXPECT_EQ(limit(plans, collective), 0u) << to_string(collective);
    EXPECT_EQ(limit(plans, Collective::bcast), memory::inline_capacity + 1);
  });
}

TEST(GroupPlans, CallsOfWhichRanksDoNotKnowTheBytesMayNeedSlots) {
  testing::run_ranks(1, [](int) {
    const GroupPlans plans = plans_of(2, 1);
    for (const Collective collective :
         {Collective::gatherv, Collective::scatterv, Collective::alltoallv, Collective::allgatherv})
      EXPECT_EQ(limit(plans, collective), 0u) << to_string(collective);
  });
}

TEST(GroupPlans, TreesAreBuiltOnce) {
  testing::run_ranks(1, [](int) {
    const GroupPlans plans = plans_of(5, 1);
    const plan::Plan& plan = plans.selector(Collective::bcast, 8);
    const auto first = plans.positions(plan, 3), second = plans.positions(plan, 3);
    EXPECT_EQ(&first.release, &second.release);
    EXPECT_EQ(&plans.positions.contiguous(1), &plans.positions.contiguous(1));
  });
}

}  // namespace
}  // namespace espalier::runtime
