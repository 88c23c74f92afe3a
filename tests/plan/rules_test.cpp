#include "plan/rules.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "tests/plan/making.hpp"

namespace espalier::plan {
namespace {

using testing::contains;
using testing::parse_file;

std::vector<Rule> parse_one(const std::string& rule) {
  return parse_file("{\"schema\": 1, \"rules\": [" + rule + "]}");
}

std::string error_of(const std::string& text) {
  std::vector<std::string> warnings;
  try {
    parse_rules(text, "t.json", warnings);
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not an espalier::Error: ") + error.what();
  }
  return "no error";
}

TEST(Rules, EveryKeyIsRead) {
  const Rule rule =
      parse_one(R"({"collective": "allreduce", "bytes": [1, "64KiB"], "ranks": [2, null], "nodes": 3,
      "ranks_per_node": [null, 8], "ranks_per_core": [0.5, 1.5], "prompt_yields": false, "algorithm": "tree", "chunk": "16KiB",
      "gather_tree": "numa=flat kary:4", "release_tree": "chain", "inline": false, "read_from_parent": false,
      "skip_gather": false, "copy_avoidance": false, "comment": "all of them"})")
          .front();
  EXPECT_EQ(rule.collectives, std::vector{Collective::allreduce});
  EXPECT_EQ(rule.bytes.first, 1);
  EXPECT_EQ(rule.bytes.last, 65536);
  EXPECT_EQ(rule.ranks.first, 2);
  EXPECT_TRUE(rule.ranks.holds(1e9));
  EXPECT_TRUE(rule.nodes.holds(3) && !rule.nodes.holds(2) && !rule.nodes.holds(4));
  EXPECT_TRUE(rule.ranks_per_node.holds(0) && rule.ranks_per_node.holds(8) && !rule.ranks_per_node.holds(9));
  EXPECT_TRUE(rule.ranks_per_core.holds(1.5) && !rule.ranks_per_core.holds(1.51));
  EXPECT_EQ(rule.prompt_yields, false);
  EXPECT_EQ(rule.plan.algorithm, Algorithm::tree);
  EXPECT_EQ(rule.plan.chunk, 16384u);
  EXPECT_EQ(tree::to_string(rule.plan.gather_tree), tree::to_string(tree::parse_spec("numa=flat kary:4")));
  EXPECT_EQ(tree::to_string(rule.plan.release_tree), tree::to_string(tree::parse_spec("chain")));
  EXPECT_FALSE(rule.plan.inlined || rule.plan.read_from_parent || rule.plan.skip_gather ||
               rule.plan.copy_avoidance);
}

TEST(Rules, WhatIsNotSaidIsOpen) {
  const Rule rule = parse_one(R"({"algorithm": "tree"})").front();
  const Plan standard;
  EXPECT_EQ(rule.plan.chunk, standard.chunk);
  EXPECT_TRUE(rule.plan.inlined && rule.plan.read_from_parent && rule.plan.skip_gather &&
              rule.plan.copy_avoidance);
  for (const Collective collective : {Collective::barrier, Collective::bcast, Collective::reduce,
                                      Collective::allreduce})  // those that have it
    EXPECT_TRUE(rule.matches({collective, std::size_t{1} << 50, 4096, 9, 512, 100.0, false}));
}

TEST(Rules, EvidenceIsKeptForWhoAsks) {
  const auto rules = parse_one(
      R"({"collective": "bcast", "algorithm": "tree", "evidence": "measured: here"}, {"network": "ring"})");
  EXPECT_EQ(rules[0].plan.origin.evidence, "measured: here");
  EXPECT_EQ(rules[1].network.origin.evidence, "");
  EXPECT_THROW(parse_one(R"({"algorithm": "tree", "evidence": 3})"), Error);
}

TEST(Rules, ZeroCopy) {
  EXPECT_EQ(parse_one(R"({"collective": "bcast", "algorithm": "tree"})").front().plan.zero_copy, Plan::never);
  const auto rules = parse_one(R"({"collective": "bcast", "algorithm": "tree", "zero_copy": "64KiB"})");
  EXPECT_EQ(rules.front().plan.zero_copy, 65536u);
}

TEST(Rules, TheOldNameOfZeroCopyIsReadWithOneWarning) {
  std::vector<std::string> warnings;
  const auto rules = parse_rules(R"({"schema": 1, "rules": [
      {"collective": "bcast", "algorithm": "tree", "lend": "64KiB"},
      {"collective": "allreduce", "algorithm": "sliced", "lend": 4096}]})",
                                 "mine.json", warnings);
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].plan.zero_copy, 65536u);
  EXPECT_EQ(rules[1].plan.zero_copy, 4096u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("\"lend\" is \"zero_copy\" now"), std::string::npos) << warnings[0];
}

TEST(Rules, OrSlots) {
  EXPECT_FALSE(parse_one(R"({"collective": "scatter", "algorithm": "single-copy"})").front().plan.or_slots);
  EXPECT_TRUE(parse_one(R"({"collective": "scatter", "algorithm": "single-copy", "or_slots": true})")
                  .front()
                  .plan.or_slots);
}

TEST(Rules, ConditionsOfTheNode) {
  const Rule direct = parse_one(R"({"collective": "bcast", "algorithm": "single-copy"})").front();
  Query query{.collective = Collective::bcast};
  EXPECT_TRUE(direct.matches(query));
  query.single_copy = false;
  EXPECT_FALSE(direct.matches(query)) << "ranks that may not read each other's memory";

  const Rule slow =
      parse_one(R"({"collective": "bcast", "prompt_yields": false, "algorithm": "tree"})").front();
  EXPECT_FALSE(slow.matches(query));
  query.prompt_yields = false;
  EXPECT_TRUE(slow.matches(query));
}

TEST(Rules, TreeIsBothTrees) {
  const Plan plan = parse_one(R"({"tree": "kary:3", "algorithm": "tree"})").front().plan;
  EXPECT_EQ(tree::to_string(plan.gather_tree), tree::to_string(plan.release_tree));
  EXPECT_EQ(tree::to_string(plan.gather_tree), tree::to_string(tree::parse_spec("kary:3")));
}

TEST(Rules, SeveralCollectivesInOneRule) {
  const Rule rule = parse_one(R"({"collective": ["bcast", "reduce"], "algorithm": "tree"})").front();
  EXPECT_TRUE(rule.matches({Collective::bcast}));
  EXPECT_TRUE(rule.matches({Collective::reduce}));
  EXPECT_FALSE(rule.matches({Collective::allreduce}));
}

TEST(Rules, RuleWithoutCollectiveServesWhereItsAlgorithmExists) {
  const Rule rule = parse_one(R"({"algorithm": "sliced"})").front();
  EXPECT_TRUE(rule.matches({Collective::allreduce}));
  EXPECT_FALSE(rule.matches({Collective::bcast}));
}

TEST(Rules, RangesAreClosed) {
  const Rule rule = parse_one(R"({"bytes": [8, 16], "algorithm": "host"})").front();
  for (const std::size_t bytes : {8, 12, 16}) EXPECT_TRUE(rule.matches({Collective::bcast, bytes})) << bytes;
  for (const std::size_t bytes : {0, 7, 17}) EXPECT_FALSE(rule.matches({Collective::bcast, bytes})) << bytes;
  EXPECT_TRUE(
      parse_one(R"({"bytes": "1k", "algorithm": "host"})").front().matches({Collective::bcast, 1024}));
}

// Lines as an editor shows them, whatever the layout and whatever stands in the strings.
TEST(Rules, OriginIsFileLineAndText) {
  const auto rules = parse_file(
      "{\"schema\": 1,\n"                                                           // 1
      " \"comment\": \"\\\"rules\\\": [{]} \\\\\",\n"                               // 2
      " \"rules\": [ {\"algorithm\": \"tree\"}, {\"algorithm\": \"host\"},\n"       // 3
      "   {\"comment\": \"} ] { [ \\\" }\",\n"                                      // 4
      "    \"algorithm\":\n"                                                        // 5
      "      \"sliced\"}\n"                                                         // 6
      "\n"                                                                          // 7
      "   , {\"bytes\": [0,\n"                                                      // 8
      "      7], \"algorithm\": \"central\"}, {\"algorithm\": \"exchange\"}]}\n");  // 9
  ASSERT_EQ(rules.size(), 5u);
  const int lines[] = {3, 3, 4, 8, 9};
  const Algorithm algorithms[] = {Algorithm::tree, Algorithm::host, Algorithm::sliced, Algorithm::central,
                                  Algorithm::exchange};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i].plan.origin.file, "t.json");
    EXPECT_EQ(rules[i].plan.origin.line, lines[i]) << i;
    EXPECT_EQ(rules[i].plan.algorithm, algorithms[i]) << i;
    EXPECT_TRUE(contains(rules[i].plan.origin.rule, std::string(to_string(algorithms[i]))))
        << rules[i].plan.origin.rule;
  }
  EXPECT_EQ(rules[1].plan.origin.rule, R"({"algorithm": "host"})");
}

struct Mistake {
  const char* rule;  // on line 3; a second line of it is line 4
  int line;
  const char* says;
};

TEST(Rules, EveryMistakeNamesFileAndLine) {
  const Mistake mistakes[] = {
      {"{}", 3, "\"algorithm\" is missing"},
      {"17", 2, "not an object"},
      {"{\"algorithm\": \"tree\"}, [1]", 2, "not an object"},
      {"{\"algorithm\": \"best\"}", 3, "it may be host, exchange, central, tree, grouped, sliced, direct"},
      {"{\n\"algorithm\": 5}", 4, "\"algorithm\" is 5"},
      {"{\"collective\": \"alltoallx\",\n\"algorithm\": \"tree\"}", 3,
       "barrier, bcast, reduce, allreduce, allgather"},
      {"{\"collective\": \"alltoall\",\n\"algorithm\": \"tree\"}", 4, "tree does not exist for alltoall"},
      {"{\"algorithm\": \"tree\",\n\"collective\": [\"bcast\", 3]}", 4, "\"collective\" is 3"},
      {"{\"collective\": \"bcast\",\n\"algorithm\": \"sliced\"}", 4, "sliced does not exist for bcast"},
      {"{\"algorithm\": \"tree\",\n\"bytes\": [1]}", 4, "two ends"},
      {"{\"algorithm\": \"tree\",\n\"bytes\": [1, 2, 3]}", 4, "two ends"},
      {"{\"algorithm\": \"tree\",\n\"bytes\": [9, 8]}", 4, "empty range"},
      {"{\"algorithm\": \"tree\",\n\"bytes\": -1}", 4, "\"bytes\" holds -1"},
      {"{\"algorithm\": \"tree\",\n\"bytes\": \"lots\"}", 4, "\"lots\" is not a number of bytes"},
      {"{\"algorithm\": \"tree\",\n\"ranks\": \"8\"}", 4, "\"ranks\" holds \"8\""},
      {"{\"algorithm\": \"tree\",\n\"ranks_per_core\": true}", 4, "\"ranks_per_core\" holds true"},
      {"{\"algorithm\": \"tree\",\n\"chunk\": 63}", 4, "at least 64"},
      {"{\"algorithm\": \"tree\",\n\"chunk\": null}", 4, "\"chunk\" holds null"},
      {"{\"algorithm\": \"tree\",\n\"chunk\": \"big\"}", 4, "\"chunk\" \"big\" is not"},
      {"{\"algorithm\": \"tree\",\n\"chunk\": 1e30}", 4, "\"chunk\""},
      {"{\"algorithm\": \"tree\",\n\"tree\": 4}", 4, "is not a tree text"},
      {"{\"algorithm\": \"tree\",\n\"gather_tree\": \"bush\"}", 4, "bush"},
      {"{\"algorithm\": \"tree\",\n\"release_tree\": \"kary:0\"}", 4, "\"release_tree\""},
      {"{\"algorithm\": \"tree\",\n\"inline\": \"yes\"}", 4, "neither true nor false"},
      {"{\"algorithm\": \"tree\",\n\"skip_gather\": 1}", 4, "neither true nor false"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string error = error_of("{\"schema\": 1,\n\"rules\": [\n" + std::string(mistake.rule) + "]}");
    EXPECT_TRUE(error.starts_with("t.json:" + std::to_string(mistake.line) + ":"))
        << mistake.rule << "\n-> " << error;
    EXPECT_TRUE(contains(error, mistake.says)) << mistake.rule << "\n-> " << error;
  }
}

TEST(Rules, TextThatIsNoTableNamesItsLine) {
  const std::pair<const char*, int> texts[] = {
      {"", 1},
      {"{\"schema\": 1,\n\"rules\": [\n{\"algorithm\": }]}", 3},
      {"{\"schema\": 1,\n\n\n,}", 4},
      {"{\"schema\": 1, \"rules\": [],\n\"comment\": \"no end\n}", 2},
      {"{\"schema\": 1,\n\"rules\": [{\"bytes\":\n 1e999, \"algorithm\": \"tree\"}]}", 3},
      {"[]", 1},
      {"{\"schema\": 1, \"rules\": 5}", 1},
      {"{\"schema\": 1}", 1},
      {"{\"rules\": []}", 1},
      {"{\n\n\"schema\": 2, \"rules\": []}", 3},
  };
  for (const auto& [text, line] : texts)
    EXPECT_TRUE(error_of(text).starts_with("t.json:" + std::to_string(line) + ":"))
        << text << "\n-> " << error_of(text);
}

TEST(Rules, UnknownKeysWarnWithTheirLine) {
  std::vector<std::string> warnings;
  const auto rules = parse_rules(
      "{\"schema\": 1,\n\"author\": \"me\",\n\"rules\": [\n{\"algorithm\": \"tree\",\n\"bites\": 4}]}",
      "t.json", warnings);
  EXPECT_EQ(rules.size(), 1u);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].starts_with("t.json:2: unknown key \"author\"")) << warnings[0];
  EXPECT_TRUE(warnings[1].starts_with("t.json:5: unknown key \"bites\"")) << warnings[1];
}

TEST(Rules, BytesThatNoCallHasWarnWithTheirLine) {
  std::vector<std::string> warnings;
  parse_rules(
      R"({"schema": 1, "rules": [
{"collective": ["scatterv", "gatherv"],
 "bytes": [65536, null], "algorithm": "direct"},
{"collective": ["scatterv", "scatter"], "bytes": [65536, null], "algorithm": "direct"},
{"collective": "alltoallv", "bytes": [0, 65536], "algorithm": "exchange"}]})",
      "t.json", warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with("t.json:3: no call holds this: rules know no bytes of scatterv"))
      << warnings[0];
}

TEST(Rules, FilesAreReadAndMissingOnesNamed) {
  std::vector<std::string> warnings;
  EXPECT_THROW(read_rules("/nowhere/rules.json", warnings), Error);
  EXPECT_THROW(read_rules("/", warnings), Error);
  const std::string path = ::testing::TempDir() + "espalier-rules-test.json";
  std::ofstream(path) << R"({"schema": 1, "rules": [{"algorithm": "host"}]})";
  EXPECT_EQ(read_rules(path, warnings).front().plan.origin.file, path);
  std::remove(path.c_str());
}

TEST(Rules, DefaultsReadWithoutWarning) { EXPECT_FALSE(default_rules().empty()); }

TEST(Rules, DefaultOriginsPointAtTheRules) {
  for (const Rule& rule : default_rules()) {
    const Origin& origin = rule.between_nodes ? rule.network.origin : rule.plan.origin;
    const Algorithm algorithm = rule.between_nodes ? rule.network.algorithm : rule.plan.algorithm;
    EXPECT_EQ(origin.file, "src/plan/default_rules.json");
    EXPECT_GT(origin.line, 1);
    EXPECT_TRUE(contains(origin.rule, std::string(to_string(algorithm)))) << origin.rule;
    EXPECT_EQ(contains(origin.rule, "\"network\""), rule.between_nodes) << origin.rule;
    EXPECT_TRUE(origin.evidence.starts_with("measured: ") || origin.evidence.starts_with("modelled: ") ||
                origin.evidence.starts_with("taken over: "))
        << origin.rule;
  }
}

}  // namespace
}  // namespace espalier::plan
