// Which nonblocking collectives are the host's.
#include "plan/nonblocking_rules.hpp"

#include <gtest/gtest.h>

namespace espalier::plan {
namespace {

constexpr std::string_view mpich = "MPICH Version: 5.0.2";

// Each with its neighbours on both sides of a border.
TEST(NonblockingRules, OverNodesFewMessages) {
  using enum Collective;
  const auto is_hosts = [](Collective collective, int ranks, int nodes, bool by_nodes) {
    return nonblocking_over_nodes_is_hosts(mpich, collective, 8,
                                           {ranks, nodes, ranks / nodes, by_nodes, false});
  };
  EXPECT_FALSE(is_hosts(alltoall, 5, 5, false));
  EXPECT_TRUE(is_hosts(alltoall, 6, 3, false));
  EXPECT_FALSE(is_hosts(scan, 6, 3, false));
  EXPECT_TRUE(is_hosts(exscan, 7, 7, false));
  EXPECT_FALSE(is_hosts(gather, 8, 8, false));
  EXPECT_TRUE(is_hosts(gather, 9, 3, false));
  // A node sends for all of its ranks.
  EXPECT_FALSE(is_hosts(allreduce, 6, 3, true));
  EXPECT_TRUE(is_hosts(allreduce, 8, 4, true));
  EXPECT_FALSE(is_hosts(allreduce, 8, 2, true));
  EXPECT_TRUE(is_hosts(allreduce, 8, 2, false));
  EXPECT_FALSE(is_hosts(bcast, 8, 8, true));
}

TEST(NonblockingRules, OverNodesShortData) {
  using enum Collective;
  const auto is_hosts = [](Collective collective, std::size_t bytes, int ranks, bool by_user = false) {
    return nonblocking_over_nodes_is_hosts(mpich, collective, bytes, {ranks, 2, ranks / 2, true, by_user});
  };
  EXPECT_FALSE(is_hosts(allreduce, 524288, 2));
  EXPECT_TRUE(is_hosts(allreduce, 524289, 2));
  EXPECT_FALSE(is_hosts(allreduce, 131072, 4));
  EXPECT_TRUE(is_hosts(allreduce, 131073, 4));
  EXPECT_FALSE(is_hosts(allreduce, 32768, 4, true));
  EXPECT_TRUE(is_hosts(allreduce, 32769, 4, true));
  EXPECT_FALSE(is_hosts(gather, 8192, 8));
  EXPECT_TRUE(is_hosts(gather, 8193, 8));
  // What a node sends of an allgather are the blocks of all of its ranks.
  EXPECT_FALSE(is_hosts(allgather, 65536, 4));
  EXPECT_TRUE(is_hosts(allgather, 65537, 4));
  // Where a rank's data go to all others together their number does not matter.
  EXPECT_FALSE(is_hosts(alltoall, 524288, 4));
  EXPECT_TRUE(is_hosts(reduce_scatter, 524289, 4));
}

TEST(NonblockingRules, OverNodesUnknownLengths) {
  using enum Collective;
  for (const Collective collective : {gatherv, scatterv, alltoallv, alltoallw}) {
    EXPECT_FALSE(nonblocking_over_nodes_is_hosts(mpich, collective, 0, {4, 2, 2, false, false}));
    EXPECT_TRUE(nonblocking_over_nodes_is_hosts(mpich, collective, 0, {5, 2, 3, false, false}));
  }
  EXPECT_FALSE(nonblocking_over_nodes_is_hosts(mpich, barrier, 0, {8, 2, 4, true, false}));
  EXPECT_TRUE(nonblocking_over_nodes_is_hosts(mpich, neighbor_alltoallv, 0, {2, 2, 1, false, false}));
}

TEST(NonblockingRules, OverNodesOfAnotherHostNone) {
  for (const Collective collective : all_collectives)
    EXPECT_TRUE(nonblocking_over_nodes_is_hosts("Open MPI v5.0.9", collective, 8, {2, 2, 1, false, false}));
  EXPECT_TRUE(nonblocking_over_nodes_is_always_hosts("Open MPI v5.0.9", 2));
  EXPECT_TRUE(nonblocking_over_nodes_is_always_hosts(mpich, 9));
  EXPECT_FALSE(nonblocking_over_nodes_is_always_hosts(mpich, 8));
}

}  // namespace
}  // namespace espalier::plan
