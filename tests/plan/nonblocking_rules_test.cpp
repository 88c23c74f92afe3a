// Which nonblocking collectives are the host's.
#include "plan/nonblocking_rules.hpp"

#include <gtest/gtest.h>

namespace espalier::plan {
namespace {

TEST(NonblockingRules, OfAnUnknownHostNone) {
  for (const Collective collective : all_collectives)
    for (const std::size_t bytes : {0u, 8u, 4096u, 65536u, 1u << 20}) {
      EXPECT_FALSE(nonblocking_is_hosts("", collective, bytes, 2));
      EXPECT_FALSE(nonblocking_is_hosts("Some MPI 1.0", collective, bytes, 2));
    }
}

TEST(NonblockingRules, FollowHostCollectiveBytesAndRanks) {
  const char* const host = "Open MPI v5.0.11, package: Open MPI";
  EXPECT_TRUE(nonblocking_is_hosts(host, Collective::allgather, 1 << 20, 2));
  EXPECT_FALSE(nonblocking_is_hosts(host, Collective::allgather, 1 << 20, 3));
  EXPECT_FALSE(nonblocking_is_hosts(host, Collective::allgather, 65536, 2));
  EXPECT_FALSE(nonblocking_is_hosts(host, Collective::allreduce, 1 << 20, 2));
  EXPECT_TRUE(nonblocking_is_hosts(host, Collective::scatter, 8, 16));
  EXPECT_FALSE(nonblocking_is_hosts(host, Collective::scatter, 4096, 16));
  EXPECT_FALSE(nonblocking_is_hosts(host, Collective::scatterv, 8, 16));
  EXPECT_TRUE(
      nonblocking_is_hosts("Intel(R) MPI Library 2021.18 for Linux* OS", Collective::allgather, 65536, 2));
  EXPECT_FALSE(nonblocking_is_hosts("MPICH Version: 5.0.2", Collective::allgather, 65536, 2));
}

TEST(NonblockingRules, OverNodesFewRanksAndShortData) {
  using enum Collective;
  constexpr std::string_view host = "MPICH Version: 5.0.2";
  EXPECT_FALSE(nonblocking_over_nodes_is_hosts(host, barrier, 0, 64, 8));
  EXPECT_TRUE(nonblocking_over_nodes_is_hosts(host, barrier, 0, 65, 8));
  EXPECT_FALSE(nonblocking_over_nodes_is_hosts(host, allreduce, 65536, 16, 8));
  EXPECT_TRUE(nonblocking_over_nodes_is_hosts(host, allreduce, 65537, 16, 8));
  // What a node sends of an allgather are the blocks of all of its ranks.
  EXPECT_FALSE(nonblocking_over_nodes_is_hosts(host, allgather, 8192, 16, 8));
  EXPECT_TRUE(nonblocking_over_nodes_is_hosts(host, allgather, 8193, 16, 8));
  EXPECT_TRUE(nonblocking_over_nodes_is_hosts("Open MPI v5.0.9", barrier, 0, 2, 1));
}

}  // namespace
}  // namespace espalier::plan
