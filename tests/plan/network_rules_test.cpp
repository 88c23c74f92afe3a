// Rules about what happens between nodes, and the plans that come of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/error.hpp"
#include "plan/selector.hpp"
#include "tests/plan/making.hpp"

namespace espalier::plan {
namespace {

using testing::contains;
using testing::table_of;

/// Those that are served over nodes.
const std::vector<Collective> spanning = [] {
  std::vector<Collective> found;
  for (const Collective collective : all_collectives)
    if (!traits(collective).node_only) found.push_back(collective);
  return found;
}();

/// On lines 2, 3 ... of t.json.
std::vector<Rule> parse_lines(const std::string& rules) {
  return testing::parse_file("{\"schema\": 1, \"rules\": [\n" + rules + "]}");
}

std::string error_of_lines(const std::string& rules) {
  try {
    parse_lines(rules);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// A table with rules of a user before the built-in ones.
Table table_with(const std::string& rules) {
  const std::string path = ::testing::TempDir() + "espalier-network-rules-test.json";
  std::ofstream(path) << "{\"schema\": 1, \"rules\": [\n" << rules << "]}";
  Table table = table_of({"ESPALIER_RULES=" + path});
  std::remove(path.c_str());
  EXPECT_TRUE(table.warnings().empty()) << table.warnings().front();
  return table;
}

Query query_over_nodes(Collective collective, std::size_t bytes, int nodes = 4, int ranks_per_node = 2) {
  Query query;
  query.collective = collective;
  query.bytes = bytes;
  query.nodes = nodes;
  query.ranks_per_node = ranks_per_node;
  query.ranks = nodes * ranks_per_node;
  return query;
}

TEST(NetworkRules, EveryKeyIsRead) {
  const Rule rule =
      parse_lines(R"({"collective": "allreduce", "nodes": [2, 8], "network": "ring", "segment": "64KiB",
      "leaders": 3, "tree": "kary:2", "comment": "all of them"})")
          .front();
  EXPECT_TRUE(rule.between_nodes);
  EXPECT_EQ(rule.network.algorithm, Algorithm::ring);
  EXPECT_EQ(rule.network.segment, 65536u);
  EXPECT_EQ(rule.network.leaders, 3);
  EXPECT_EQ(tree::to_string(rule.network.tree), tree::to_string(tree::parse_spec("kary:2")));
  EXPECT_EQ(rule.network.origin.file, "t.json");
  EXPECT_EQ(rule.network.origin.line, 2);
  EXPECT_TRUE(rule.matches(query_over_nodes(Collective::allreduce, 0, 8)));
  EXPECT_FALSE(rule.matches(query_over_nodes(Collective::allreduce, 0, 9)));
  EXPECT_EQ(parse_lines(R"({"network": "ring", "leaders": "all"})").front().network.leaders, 0);
}

TEST(NetworkRules, WithoutCollectiveServeWhereTheirAlgorithmExists) {
  const Rule rule = parse_lines(R"({"network": "rabenseifner"})").front();
  for (const Collective collective : all_collectives)
    EXPECT_EQ(rule.matches(query_over_nodes(collective, 8)),
              collective == Collective::reduce || collective == Collective::allreduce)
        << to_string(collective);
}

TEST(NetworkRules, EveryMistakeNamesFileAndLine) {
  const struct {
    const char* rule;  // behind another on line 2
    const char* says;
  } mistakes[] = {
      {R"({"collective": "bcast", "network": "fastest"})", "\"network\" is \"fastest\"; it may be"},
      {R"({"collective": "bcast", "network": "ring"})", "ring does not exist for bcast between nodes"},
      {R"({"collective": ["scan", "bcast"], "network": "chain"})",
       "chain does not exist for bcast between nodes"},
      {R"({"collective": "allgather", "network": "tree"})",
       "tree does not exist for allgather between nodes"},
      {R"({"collective": "barrier", "network": "exchange"})",
       "exchange does not exist for barrier between nodes"},
      {R"({"network": 7})", "\"network\" is 7"},
      {R"({"network": "ring", "leaders": 0})", "\"leaders\" is 0; it may be a number from 1 on, or \"all\""},
      {R"({"network": "ring", "leaders": -1})", "\"leaders\" is -1"},
      {R"({"network": "ring", "leaders": 1.5})", "\"leaders\" is 1.5"},
      {R"({"network": "ring", "leaders": 18446744073709551615})", "\"leaders\" is 18446744073709551615"},
      {R"({"network": "ring", "leaders": "most"})", "\"leaders\" is \"most\""},
      {R"({"network": "ring", "segment": 63})", "\"segment\" must be at least 64 bytes"},
      {R"({"network": "ring", "segment": "1025MiB"})", "\"segment\" is longer than a message between nodes"},
      {R"({"network": "ring", "segment": "long"})", "\"segment\""},
      {R"({"network": "tree", "tree": "bush"})", "\"tree\""},
      {R"({"collective": "allreduce", "algorithm": "ring"})", "ring does not exist for allreduce"},
  };
  for (const auto& mistake : mistakes) {
    const std::string error = error_of_lines(std::string("{\"network\": \"host\"},\n") + mistake.rule);
    EXPECT_TRUE(error.starts_with("t.json:3: ")) << mistake.rule << ": " << error;
    EXPECT_TRUE(contains(error, mistake.says)) << mistake.rule << ": " << error;
  }
}

TEST(NetworkRules, KeysOfNodeRulesAreNamedAndIgnored) {
  for (const char* key : {"chunk", "inline", "algorithm", "gather_tree", "skip_gather"}) {
    std::vector<std::string> warnings;
    parse_rules(
        std::string("{\"schema\": 1, \"rules\": [\n{\"network\": \"tree\",\n \"") + key + "\": \"host\"}]}",
        "t.json", warnings);
    ASSERT_EQ(warnings.size(), 1u) << key;
    EXPECT_TRUE(contains(warnings[0], "t.json:3: unknown key \"" + std::string(key))) << warnings[0];
  }
}

TEST(NetworkRules, AreNeverTakenForRulesOfTheNode) {
  const Table mixed = table_with(R"({"collective": "bcast", "network": "scatter-allgather", "segment": 777},
      {"collective": "bcast", "algorithm": "tree", "chunk": 4321})");
  EXPECT_EQ(mixed.find(query_over_nodes(Collective::bcast, 8)).chunk, 4321u);
  EXPECT_EQ(mixed.find_network(query_over_nodes(Collective::bcast, 8)).segment, 777u);
  // All that a rule of the one kind says leaves the other kind alone.
  const Table hosts = table_with(R"({"network": "host"})");
  for (const Collective collective : spanning) {
    const Query query = query_over_nodes(collective, 100);
    EXPECT_EQ(hosts.find_network(query).algorithm, Algorithm::host);
    EXPECT_NE(hosts.find(query).algorithm, Algorithm::host) << to_string(collective);
  }
}

TEST(NetworkRules, WhoLeavesACollectiveToTheHostMeansAllOfIt) {
  const Table table = table_with(R"({"collective": "bcast", "algorithm": "host"})");
  const NetworkPlan plan = table.find_network(query_over_nodes(Collective::bcast, 100));
  EXPECT_EQ(plan.algorithm, Algorithm::host);
  EXPECT_EQ(plan.origin.line, table.find(query_over_nodes(Collective::bcast, 100)).origin.line);
  EXPECT_NE(table.find_network(query_over_nodes(Collective::reduce, 100)).algorithm, Algorithm::host);
}

// Of a reduce_scatter each rank sends as many messages as there are nodes.
TEST(NetworkRules, ShortReduceScattersOverManyNodesAreAllreduces) {
  const Table table = table_of({});
  const auto algorithm = [&](int nodes, std::size_t bytes) {
    return table.find_network(query_over_nodes(Collective::reduce_scatter, bytes, nodes, 1)).algorithm;
  };
  EXPECT_EQ(algorithm(1024, 65536), Algorithm::allreduce);
  EXPECT_EQ(algorithm(1024, 524288), Algorithm::transpose);
  EXPECT_EQ(algorithm(64, 65536), Algorithm::transpose);
}

TEST(NetworkRules, ThoseThatNeedConsecutiveRanksArePassedOver) {
  const Table table = table_with(R"({"collective": ["scan", "exscan"], "network": "chain"})");
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    Query query = query_over_nodes(collective, 1 << 20);
    EXPECT_EQ(table.find_network(query).algorithm, Algorithm::chain);
    query.consecutive = false;
    EXPECT_EQ(table.find_network(query).algorithm, Algorithm::transpose);
  }
  Query query = query_over_nodes(Collective::scan, 100);
  query.consecutive = false;
  EXPECT_FALSE(is_possible(Scope::network, Algorithm::recursive_doubling, query));
  query.collective = Collective::allreduce;
  EXPECT_TRUE(is_possible(Scope::network, Algorithm::recursive_doubling, query));
}

TEST(NetworkTable, BuiltInRulesServeThemEverywhere) {
  const Table table = table_of({});
  for (const Collective collective : spanning)
    for (const bool consecutive : {true, false})
      for (int nodes = 1; nodes < 1000; nodes = nodes * 3 / 2 + 1)
        for (const int ranks_per_node : {1, 2, 64})
          for (std::size_t bytes = 0; bytes < (std::size_t{1} << 40); bytes = bytes * 3 + 1) {
            Query query = query_over_nodes(collective, bytes, nodes, ranks_per_node);
            query.consecutive = consecutive;
            const NetworkPlan plan = table.find_network(query);
            EXPECT_TRUE(plan.algorithm != Algorithm::host && plan.segment >= 64 &&
                        is_possible(Scope::network, plan.algorithm, query))
                << to_string(collective) << ", " << bytes << " bytes, " << nodes << " nodes, "
                << to_string(plan.algorithm);
          }
}

TEST(NetworkSelector, AgreesWithTheTable) {
  const Table table = table_with(R"({"collective": "bcast", "bytes": [10, 20], "network": "host"},
      {"collective": "bcast", "bytes": [15, 99], "nodes": 5, "network": "tree", "segment": 100})");
  for (const int nodes : {1, 2, 5, 16})
    for (const bool consecutive : {true, false}) {
      Query shape = query_over_nodes(Collective::barrier, 0, nodes);
      shape.consecutive = consecutive;
      const NetworkSelector selector(table, shape);
      for (const Collective collective : all_collectives)
        for (std::size_t bytes = 0; bytes < (std::size_t{1} << 34);
             bytes = bytes < 120 ? bytes + 1 : bytes * 2 - 100) {
          Query query = shape;
          query.collective = collective;
          query.bytes = bytes;
          const NetworkPlan wanted = table.find_network(query);
          const NetworkPlan& got = selector(collective, bytes);
          EXPECT_TRUE(got.algorithm == wanted.algorithm && got.segment == wanted.segment &&
                      got.leaders == wanted.leaders && got.origin.line == wanted.origin.line)
              << to_string(collective) << ", " << bytes << " bytes, " << nodes << " nodes";
        }
    }
}

TEST(NetworkTable, EveryAlgorithmMayBeForced) {
  for (const Collective collective : spanning)
    for (const Algorithm algorithm : algorithms_of(Scope::network, collective)) {
      std::string key = "ESPALIER_NETWORK_" + std::string(to_string(collective));
      std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::toupper(c); });
      const Table table = table_of({key + "=" + std::string(to_string(algorithm))});
      EXPECT_TRUE(table.warnings().empty()) << table.warnings().front();
      for (const Collective other : spanning) {
        Query query = query_over_nodes(other, 100);
        query.sharp = algorithm == Algorithm::sharp;
        const Algorithm wanted = other == collective ? algorithm : table_of({}).find_network(query).algorithm;
        EXPECT_EQ(table.find_network(query).algorithm, wanted) << key << ", " << to_string(other);
        EXPECT_EQ(table.find(query).algorithm, table_of({}).find(query).algorithm) << key << " on the node";
      }
    }
}

TEST(NetworkTable, AggregationNodesServeJobsThatHaveThem) {
  for (const char* forced : {"ESPALIER_NETWORK_TREE=flat", "ESPALIER_NETWORK_ALLREDUCE=sharp"}) {
    const Table table = table_of({forced});
    for (const Collective collective : {Collective::barrier, Collective::reduce, Collective::allreduce}) {
      Query query = query_over_nodes(collective, 100);
      EXPECT_NE(table.find_network(query).algorithm, Algorithm::sharp) << to_string(collective);
      query.sharp = true;
      EXPECT_EQ(table.find_network(query).algorithm, Algorithm::sharp) << to_string(collective);
    }
    Query query = query_over_nodes(Collective::bcast, 100);
    query.sharp = true;
    EXPECT_NE(table.find_network(query).algorithm, Algorithm::sharp);
  }
}

TEST(NetworkTable, OverridesThatDoNotExistAreNamed) {
  const Table table =
      table_of({"ESPALIER_NETWORK_BCAST=ring", "ESPALIER_NETWORK_SCAN=best", "ESPALIER_NETWORK_TREE=bush"});
  ASSERT_EQ(table.warnings().size(), 3u);
  EXPECT_TRUE(contains(table.warnings()[0], "ESPALIER_NETWORK_BCAST=ring")) << table.warnings()[0];
  EXPECT_TRUE(contains(table.warnings()[0], "may be host, tree, scatter-allgather")) << table.warnings()[0];
  EXPECT_TRUE(contains(table.warnings()[1], "ESPALIER_NETWORK_SCAN=best")) << table.warnings()[1];
  EXPECT_TRUE(contains(table.warnings()[2], "ESPALIER_NETWORK_TREE")) << table.warnings()[2];
  EXPECT_EQ(table.find_network(query_over_nodes(Collective::bcast, 8)).algorithm, Algorithm::tree);
}

TEST(NetworkTable, ForcedScansAreLeftOutWhereTheyCannotRun) {
  const Table table = table_of({"ESPALIER_NETWORK_SCAN=chain"});
  Query query = query_over_nodes(Collective::scan, 8);
  EXPECT_EQ(table.find_network(query).algorithm, Algorithm::chain);
  EXPECT_EQ(table.find_network(query).origin.file, "environment");
  query.consecutive = false;
  EXPECT_EQ(table.find_network(query).algorithm, Algorithm::gather_all);
}

TEST(NetworkTable, OtherOverridesOfTheEnvironment) {
  const Query query = query_over_nodes(Collective::allreduce, 4096);
  const NetworkPlan plain = table_of({}).find_network(query);
  EXPECT_EQ(plain.leaders, 1);
  EXPECT_EQ(table_of({"ESPALIER_SEGMENT=2KiB"}).find_network(query).segment, 2048u);
  EXPECT_EQ(table_of({"ESPALIER_LEADERS=3"}).find_network(query).leaders, 3);
  EXPECT_EQ(table_of({"ESPALIER_LEADERS=all"}).find_network(query).leaders, 0);
  EXPECT_EQ(tree::to_string(table_of({"ESPALIER_NETWORK_TREE=kary:7"}).find_network(query).tree),
            tree::to_string(tree::parse_spec("kary:7")));
  // The node's own settings are none of the network's, and the other way round.
  const NetworkPlan same =
      table_of({"ESPALIER_TREE=kary:7", "ESPALIER_CHUNK=64", "ESPALIER_ALLREDUCE=tree"}).find_network(query);
  EXPECT_TRUE(same.algorithm == plain.algorithm && same.segment == plain.segment && same.tree == plain.tree);
  EXPECT_EQ(table_of({"ESPALIER_SEGMENT=64", "ESPALIER_NETWORK_TREE=chain"}).find(query).chunk,
            table_of({}).find(query).chunk);
}

}  // namespace
}  // namespace espalier::plan
