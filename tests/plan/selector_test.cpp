#include "plan/selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <random>
#include <set>

#include "tests/plan/making.hpp"

namespace espalier::plan {
namespace {

using testing::contains;
using testing::table_of;

class File {
 public:
  explicit File(const std::string& rules) : path_(::testing::TempDir() + "espalier-selector-test.json") {
    std::ofstream(path_) << "{\"schema\": 1, \"rules\": [\n" << rules << "]}";
  }
  ~File() { std::remove(path_.c_str()); }
  std::string entry() const { return "ESPALIER_RULES=" + path_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Query query_of(Collective collective, std::size_t bytes, int ranks, double crowd = 1.0) {
  Query query;
  query.collective = collective;
  query.bytes = bytes;
  query.ranks = query.ranks_per_node = ranks;
  query.ranks_per_core = crowd;
  return query;
}

TEST(Table, BuiltInRulesServeEveryCall) {
  const Table table = table_of({});
  EXPECT_TRUE(table.warnings().empty());
  for (const Collective collective : all_collectives)
    for (int ranks = 1; ranks <= 512; ranks += ranks < 20 ? 1 : 61)
      for (const double crowd : {0.01, 0.5, 1.0, 1.005, 1.01, 1.5, 4.0, 300.0}) {
        for (std::size_t bytes = 0; bytes < (std::size_t{1} << 40); bytes = bytes * 3 + 1)
          EXPECT_NE(table.find(query_of(collective, bytes, ranks, crowd)).algorithm, Algorithm::host)
              << to_string(collective) << ", " << bytes << " bytes, " << ranks << " ranks, " << crowd
              << " a core";
      }
}

void expect_same(const Plan& a, const Plan& b, const Query& query) {
  EXPECT_TRUE(a.algorithm == b.algorithm && a.chunk == b.chunk && a.origin.file == b.origin.file &&
              a.origin.line == b.origin.line && a.inlined == b.inlined)
      << to_string(query.collective) << ", " << query.bytes << " bytes, " << query.ranks << " ranks: lines "
      << a.origin.line << " and " << b.origin.line;
}

void expect_selector_agrees(const Table& table) {
  std::mt19937_64 random(3);
  for (const int ranks : {2, 5, 8, 9, 64})
    for (const double crowd : {0.5, 1.0, 4.0}) {
      const Selector selector(table, query_of(Collective::barrier, 0, ranks, crowd));
      std::set<int> indices;
      for (const Collective collective : all_collectives) {
        std::vector<std::size_t> sizes = {0, std::numeric_limits<std::size_t>::max() / 4};
        for (const std::size_t border : table.borders(collective))
          for (const std::size_t near : {border - 1, border, border + 1})
            if (near < std::numeric_limits<std::size_t>::max() / 2) sizes.push_back(near);
        for (int i = 0; i < 300; ++i) sizes.push_back(random() >> (20 + random() % 44));
        for (const std::size_t bytes : sizes) {
          const Query query = query_of(collective, bytes, ranks, crowd);
          const Plan& plan = selector(collective, bytes);
          expect_same(plan, table.find(query), query);
          EXPECT_TRUE(plan.index >= 0 && plan.index < selector.count()) << plan.index;
          indices.insert(plan.index);
        }
      }
      EXPECT_EQ(static_cast<int>(indices.size()), selector.count())
          << "an index that no call has, or two calls that share one";
    }
}

TEST(Selector, AgreesWithTheTable) { expect_selector_agrees(table_of({})); }

TEST(Selector, AgreesWithTheTableOfAUser) {
  const File file(R"({"collective": "bcast", "bytes": [1.5, 10.5], "ranks": [2, 8], "algorithm": "host"},
    {"bytes": 100, "algorithm": "tree", "chunk": 128}, {"bytes": [null, 99], "ranks_per_core": [4, null], "algorithm": "tree"},
    {"bytes": [1e25, null], "algorithm": "host"}, {"collective": ["bcast", "reduce"], "bytes": ["3MiB", "4MiB"], "algorithm": "host"},
    {"bytes": [1e15, 1e30], "algorithm": "host"})");
  const Table table = table_of({file.entry()});
  EXPECT_TRUE(table.warnings().empty()) << table.warnings().front();
  expect_selector_agrees(table);
}

TEST(Selector, AgreesWithOverrides) {
  expect_selector_agrees(table_of(
      {"ESPALIER_ALLREDUCE=exchange", "ESPALIER_CHUNK=1KiB", "ESPALIER_BCAST=host", "ESPALIER_INLINE=off"}));
}

TEST(Table, RulesOfTheUserComeFirst) {
  const File file(R"({"collective": "bcast", "bytes": [0, 10], "algorithm": "host"})");
  const Table table = table_of({file.entry()});
  const Plan theirs = table.find(query_of(Collective::bcast, 10, 4));
  EXPECT_EQ(theirs.algorithm, Algorithm::host);
  EXPECT_EQ(theirs.origin.file, file.path());
  EXPECT_EQ(theirs.origin.line, 2);
  EXPECT_EQ(table.find(query_of(Collective::bcast, 11, 4)).algorithm, Algorithm::tree);
}

TEST(Table, UnreadableRulesAreNamedAndTheBuiltInOnesServe) {
  const File broken(R"({"algorithm": "tree", "bytes": "x"})");
  const File no_json("{");
  for (const std::string& entry : {std::string("ESPALIER_RULES=/nowhere/r.json"), broken.entry(),
                                   no_json.entry(), std::string("ESPALIER_RULES=/")}) {
    const Table table = table_of({entry});
    ASSERT_EQ(table.warnings().size(), 1u) << entry;
    EXPECT_TRUE(contains(table.warnings()[0], entry.substr(entry.find('=') + 1))) << table.warnings()[0];
    EXPECT_TRUE(contains(table.warnings()[0], "built-in rules serve")) << table.warnings()[0];
    EXPECT_EQ(table.find(query_of(Collective::bcast, 8, 4)).origin.file, "src/plan/default_rules.json");
  }
}

TEST(Table, OverridesOfTheEnvironment) {
  const Query query = query_of(Collective::allreduce, 1 << 20, 4);
  const Plan plain = table_of({}).find(query);
  EXPECT_EQ(plain.algorithm, Algorithm::sliced);

  const Plan central = table_of({"ESPALIER_ALLREDUCE=central"}).find(query);
  EXPECT_EQ(central.algorithm, Algorithm::central);
  EXPECT_EQ(central.origin.file, "environment");
  EXPECT_EQ(table_of({"ESPALIER_ALLREDUCE=sliced"}).find(query).origin.file, plain.origin.file)
      << "nothing was overridden";
  EXPECT_EQ(table_of({"ESPALIER_REDUCE=host"}).find(query).algorithm, plain.algorithm);
  EXPECT_EQ(table_of({"ESPALIER_CHUNK=2KiB"}).find(query).chunk, 2048u);

  const Plan trees = table_of({"ESPALIER_TREE=kary:7", "ESPALIER_RELEASE_TREE=chain"}).find(query);
  EXPECT_EQ(tree::to_string(trees.gather_tree), tree::to_string(tree::parse_spec("kary:7")));
  EXPECT_EQ(tree::to_string(trees.release_tree), tree::to_string(tree::parse_spec("chain")));

  const Plan bare = table_of({"ESPALIER_INLINE=off", "ESPALIER_READ_FROM_PARENT=off",
                              "ESPALIER_SKIP_GATHER=0", "ESPALIER_COPY_AVOIDANCE=no"})
                        .find(query);
  EXPECT_FALSE(bare.inlined || bare.read_from_parent || bare.skip_gather || bare.copy_avoidance);
}

TEST(Table, SingleCopyIsOverriddenInOnlyWhereItCanRun) {
  Query query = query_of(Collective::bcast, 1 << 20, 4);
  const Table table = table_of({"ESPALIER_BCAST=single-copy"});
  EXPECT_EQ(table.find(query).algorithm, Algorithm::single_copy);
  query.single_copy = false;
  EXPECT_EQ(table.find(query).algorithm, Algorithm::tree);
}

TEST(Table, LendsWhereHeapsCanBeMappedAndNoAlgorithmIsAskedFor) {
  Query query = query_of(Collective::bcast, 1 << 20, 4);
  EXPECT_LE(table_of({}).find(query).zero_copy, query.bytes);
  EXPECT_EQ(table_of({"ESPALIER_BCAST=tree"}).find(query).zero_copy, Plan::never);
  query.shared_heaps = false;
  EXPECT_EQ(table_of({}).find(query).zero_copy, Plan::never);
}

TEST(Table, OversubscribedScattersMayTakeEitherWayUnlessOneIsAskedFor) {
  Query query = query_of(Collective::scatter, 1 << 20, 8);
  query.ranks_per_core = 4;
  EXPECT_EQ(table_of({}).find(query).algorithm, Algorithm::single_copy);
  EXPECT_TRUE(table_of({}).find(query).or_slots);
  EXPECT_FALSE(table_of({"ESPALIER_SCATTER=single-copy"}).find(query).or_slots);
}

// Each collective has a key of its own name.
TEST(Table, OverridesOfEveryCollective) {
  for (const Collective collective : all_collectives)
    for (const Algorithm algorithm : algorithms_of(Scope::node, collective)) {
      std::string key = "ESPALIER_" + std::string(to_string(collective));
      std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::toupper(c); });
      const Table table = table_of({key + "=" + std::string(to_string(algorithm))});
      EXPECT_TRUE(table.warnings().empty()) << table.warnings().front();
      for (const Collective other : all_collectives)
        EXPECT_EQ(table.find(query_of(other, 100, 4)).algorithm,
                  other == collective ? algorithm : table_of({}).find(query_of(other, 100, 4)).algorithm)
            << key << ", " << to_string(other);
    }
}

// Lines that parents write and lines that their owners write must not meet in one communicator.
TEST(Table, OneRuleThatDoesNotReadFromParentHoldsForAll) {
  const std::string path = ::testing::TempDir() + "espalier_parent_rules.json";
  std::ofstream(path) << R"({"schema": 1, "rules": [
      {"collective": "barrier", "algorithm": "tree", "read_from_parent": false}]})";
  const Table table = table_of({"ESPALIER_RULES=" + path});
  std::remove(path.c_str());
  EXPECT_FALSE(table.find(query_of(Collective::bcast, 8, 4)).read_from_parent);
  EXPECT_TRUE(table_of({}).find(query_of(Collective::bcast, 8, 4)).read_from_parent);
}

TEST(Table, OverridesThatDoNotExistAreNamed) {
  const Table table = table_of({"ESPALIER_BCAST=sliced", "ESPALIER_BARRIER=best", "ESPALIER_TREE=bush",
                                "ESPALIER_GATHER_TREE=kary:x"});
  ASSERT_EQ(table.warnings().size(), 4u);
  EXPECT_TRUE(contains(table.warnings()[0], "ESPALIER_BARRIER=best")) << table.warnings()[0];
  EXPECT_TRUE(contains(table.warnings()[1], "may be host, tree")) << table.warnings()[1];
  EXPECT_TRUE(contains(table.warnings()[2], "ESPALIER_TREE")) << table.warnings()[2];
  EXPECT_TRUE(contains(table.warnings()[3], "ESPALIER_GATHER_TREE")) << table.warnings()[3];
  EXPECT_EQ(table.find(query_of(Collective::bcast, 8, 4)).algorithm, Algorithm::tree);
}

}  // namespace
}  // namespace espalier::plan
