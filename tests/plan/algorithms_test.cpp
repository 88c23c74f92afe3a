#include "plan/algorithms.hpp"

#include <gtest/gtest.h>

#include <set>

namespace espalier::plan {
namespace {

TEST(Algorithms, EachUseStandsOnceInTheTable) {
  std::set<std::tuple<Scope, Collective, Algorithm>> seen;
  for (const AlgorithmUse& use : algorithm_uses)
    for (const Collective collective : all_collectives)
      if (use.collectives.contains(collective)) {
        EXPECT_TRUE(seen.insert({use.scope, collective, use.algorithm}).second)
            << to_string(collective) << ", " << to_string(use.algorithm);
      }
  EXPECT_GT(seen.size(), 60u);
}

TEST(Algorithms, EachNameIsUsedAndReadBack) {
  for (std::size_t i = 0; i < algorithm_names.size(); ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    EXPECT_EQ(parse_algorithm(algorithm_names[i]), algorithm);
    const bool is_used = std::any_of(algorithm_uses.begin(), algorithm_uses.end(),
                                     [&](const AlgorithmUse& use) { return use.algorithm == algorithm; });
    EXPECT_TRUE(is_used || algorithm == Algorithm::host) << algorithm_names[i];
  }
}

TEST(Algorithms, EachCollectiveHasOneBesideTheHostWhereItIsServed) {
  for (const Scope scope : {Scope::node, Scope::network})
    for (const Collective collective : all_collectives) {
      const std::vector<Algorithm> found = algorithms_of(scope, collective);
      if (scope == Scope::network && traits(collective).node_only)
        EXPECT_EQ(found.size(), 1u) << to_string(collective);
      else
        EXPECT_GE(found.size(), 2u) << to_string(collective);
      EXPECT_EQ(found.front(), Algorithm::host);
      for (const Algorithm algorithm : found) EXPECT_TRUE(has_algorithm(scope, collective, algorithm));
    }
}

TEST(Algorithms, WhatIsNotInTheTableDoesNotExist) {
  EXPECT_FALSE(has_algorithm(Scope::node, Collective::allreduce, Algorithm::ring));
  EXPECT_TRUE(has_algorithm(Scope::network, Collective::allreduce, Algorithm::ring));
  EXPECT_EQ(find_use(Scope::network, Collective::allreduce, Algorithm::host), nullptr);
  EXPECT_EQ(requirement_of(Scope::node, Collective::bcast, Algorithm::single_copy), Requirement::single_copy);
  EXPECT_EQ(requirement_of(Scope::node, Collective::bcast, Algorithm::ring), Requirement::nothing);
}

}  // namespace
}  // namespace espalier::plan
