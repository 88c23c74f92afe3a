// Plans by which the bits of reductions do not depend on places.
#include "tests/plan/making.hpp"

namespace espalier::plan {
namespace {

using testing::contains;
using testing::table_of;

constexpr std::array reductions = {Collective::reduce,         Collective::allreduce,
                                   Collective::reduce_scatter, Collective::reduce_scatter_block,
                                   Collective::scan,           Collective::exscan};

Query reduction_query(Collective collective, std::size_t bytes, int ranks, double ranks_per_core) {
  Query query;
  query.collective = collective;
  query.bytes = bytes;
  query.ranks = query.ranks_per_node = ranks;
  query.ranks_per_core = ranks_per_core;
  return query;
}

template <class Check>
void for_each_query(Check check) {
  for (const Collective collective : reductions)
    for (const std::size_t bytes : {8u, 300u, 3000u, 40000u, 10000000u})
      for (const int ranks : {2, 5, 16, 100})
        for (const double ranks_per_core : {0.5, 1.0, 2.0, 8.0})
          check(reduction_query(collective, bytes, ranks, ranks_per_core));
}

TEST(Reproducible, ReductionsFoldAtOnceWhateverTheRules) {
  for (const char* level : {"placement", "exact"}) {
    const Table table = table_of({std::string("ESPALIER_REPRODUCIBLE=") + level});
    for_each_query([&](const Query& query) {
      const Plan plan = table.find(query);
      EXPECT_NE(plan.algorithm, Algorithm::host);
      EXPECT_TRUE(folds_at_once(query.collective, plan.algorithm)) << to_string(plan.algorithm);
      EXPECT_TRUE(has_algorithm(Scope::node, query.collective, plan.algorithm));
      if (query.collective == Collective::reduce) {
        EXPECT_EQ(plan.gather_tree, tree::parse_spec("flat levels=none"));
      }
    });
  }
}

TEST(Reproducible, RunHasThePlansOfTheRules) {
  const Table plain = table_of({}), run = table_of({"ESPALIER_REPRODUCIBLE=run"});
  for_each_query([&](const Query& query) {
    EXPECT_EQ(run.find(query).algorithm, plain.find(query).algorithm);
    EXPECT_EQ(run.find(query).gather_tree, plain.find(query).gather_tree);
  });
}

TEST(Reproducible, SettingsThatWouldChangeBitsAreNamed) {
  const Table table = table_of({"ESPALIER_REPRODUCIBLE=exact", "ESPALIER_ALLREDUCE=tree",
                                "ESPALIER_SCAN=host", "ESPALIER_EXSCAN=central", "ESPALIER_BCAST=host"});
  ASSERT_EQ(table.warnings().size(), 2u);
  EXPECT_TRUE(contains(table.warnings()[0], "ESPALIER_ALLREDUCE=tree")) << table.warnings()[0];
  EXPECT_TRUE(contains(table.warnings()[1], "ESPALIER_SCAN=host")) << table.warnings()[1];
  EXPECT_EQ(table.find(reduction_query(Collective::exscan, 8, 4, 1)).algorithm, Algorithm::central);
  EXPECT_EQ(table.find(reduction_query(Collective::bcast, 8, 4, 1)).algorithm, Algorithm::host);
}

}  // namespace
}  // namespace espalier::plan
