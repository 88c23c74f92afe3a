#include "espalier/describe.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/capi/asking.hpp"

namespace {

using espalier::testing::ask;
using espalier::testing::in_child;
using nlohmann::json;

TEST(Describe, TopologyOfAMadeUpMachine) {
  in_child({}, [] {
    const json answer = ask(
        R"({"what": "topology", "synthetic": "package:2 core:4 pu:1", "ranks": 8, "tree": "package=flat flat", "root": 5})");
    ASSERT_FALSE(answer.contains("error")) << answer;
    EXPECT_EQ(answer["topology"]["level"], "machine");
    EXPECT_EQ(answer["topology"]["children"].size(), 2u);
    for (const char* tree : {"gather", "release"}) {
      EXPECT_EQ(answer[tree]["root"], 5);
      EXPECT_EQ(answer[tree]["parent"][5], -1);
      EXPECT_EQ(answer[tree]["parent"].size(), 8u);
      EXPECT_EQ(answer[tree]["depth"], 2) << "a package's leader between";
    }
    EXPECT_EQ(answer["budget"]["cores"], 8);
    EXPECT_FALSE(answer["groups"].is_null());
    EXPECT_FALSE(answer["source"].get<std::string>().empty());
  });
}

TEST(Describe, AffinityDecidesTheGroups) {
  in_child({}, [] {
    const json answer = ask(
        R"({"what": "topology", "synthetic": "package:2 core:2 pu:1", "ranks": 2, "affinity": ["0", "0"]})");
    ASSERT_FALSE(answer.contains("error")) << answer;
    EXPECT_EQ(answer["budget"]["cores"], 1);
    EXPECT_TRUE(ask(R"({"what": "topology", "synthetic": "core:2 pu:1", "ranks": 3, "affinity": ["0"]})")
                    .contains("error"));
  });
}

TEST(Describe, FewRanksHaveLongRings) {
  in_child({}, [] {
    for (const auto& [ranks, slots] : {std::pair(2, 32), std::pair(4, 32), std::pair(8, 16), std::pair(9, 8)})
      EXPECT_EQ(ask(R"({"what": "plan", "collective": "bcast", "bytes": 8, "ranks": )" +
                    std::to_string(ranks) + "}")["slots"],
                slots);
  });
}

TEST(Describe, PlanSaysWhichRuleAndWhy) {
  in_child({}, [] {
    const json answer = ask(
        R"({"what": "plan", "collective": "allreduce", "bytes": 1048576, "ranks": 8, "ranks_per_core": 4.0})");
    ASSERT_FALSE(answer.contains("error")) << answer;
    EXPECT_NE(answer["algorithm"], "host");
    EXPECT_GT(answer["chunk"].get<int>(), 0);
    EXPECT_EQ(answer["slots"], 16);
    EXPECT_EQ(answer["ranks_per_core"], 4.0);
    EXPECT_EQ(answer["rule"]["file"], "src/plan/default_rules.json");
    EXPECT_GT(answer["rule"]["line"].get<int>(), 0);
    EXPECT_NE(answer["rule"]["text"].get<std::string>().find("allreduce"), std::string::npos);
    EXPECT_NE(answer["why"].get<std::string>().find("1048576 bytes on 8 ranks"), std::string::npos)
        << answer["why"];
    for (const char* key : {"gather_tree", "release_tree", "inline", "read_from_parent", "skip_gather",
                            "copy_avoidance", "warnings"})
      EXPECT_TRUE(answer.contains(key)) << key;
  });
}

TEST(Describe, RulesAreAskedAsACallAsksThem) {
  const std::string path = ::testing::TempDir() + "espalier-describe-lengths.json";
  std::ofstream(path) << R"({"schema": 1, "rules": [
    {"collective": ["scatter", "scatterv"], "bytes": [1024, null], "algorithm": "single-copy"}]})";
  in_child({{"ESPALIER_RULES", path}}, [&] {
    const auto plan = [](const char* collective) {
      return ask(json({{"what", "plan"}, {"collective", collective}, {"bytes", 65536}, {"ranks", 8}}).dump());
    };
    EXPECT_EQ(plan("scatter")["rule"]["file"], path);
    const json scatterv = plan("scatterv");  // no rank but the root knows its lengths
    EXPECT_NE(scatterv["rule"]["file"], path);
    EXPECT_NE(scatterv["why"].get<std::string>().find("scatterv of any length on 8 ranks"), std::string::npos)
        << scatterv["why"];
    const json barrier = plan("barrier");
    EXPECT_NE(barrier["why"].get<std::string>().find("holds barrier on 8 ranks"), std::string::npos)
        << barrier["why"];
  });
  std::remove(path.c_str());
}

TEST(Describe, EveryCollectiveHasAPlan) {
  in_child({}, [] {
    for (const char* collective : {"barrier",
                                   "bcast",
                                   "reduce",
                                   "allreduce",
                                   "allgather",
                                   "allgatherv",
                                   "gather",
                                   "gatherv",
                                   "scatter",
                                   "scatterv",
                                   "alltoall",
                                   "alltoallv",
                                   "reduce_scatter_block",
                                   "reduce_scatter",
                                   "scan",
                                   "exscan",
                                   "alltoallw",
                                   "neighbor_allgather",
                                   "neighbor_allgatherv",
                                   "neighbor_alltoall",
                                   "neighbor_alltoallv",
                                   "neighbor_alltoallw"})
      for (const double crowd : {1.0, 4.0}) {
        const json answer = ask(json({{"what", "plan"},
                                      {"collective", collective},
                                      {"bytes", 4096},
                                      {"ranks", 8},
                                      {"ranks_per_core", crowd}})
                                    .dump());
        ASSERT_FALSE(answer.contains("error")) << answer;
        EXPECT_NE(answer["algorithm"], "host") << collective;
      }
  });
}

TEST(Describe, PlanCountsTheRanksPerCoreItself) {
  in_child({}, [] {
    const json answer =
        ask(R"({"what": "plan", "collective": "barrier", "ranks": 8, "synthetic": "core:2 pu:1"})");
    ASSERT_FALSE(answer.contains("error")) << answer;
    EXPECT_GE(answer["ranks_per_core"].get<double>(), 4.0);  // a CPU quota may make it more
    EXPECT_EQ(answer["algorithm"], "central");
  });
}

TEST(Describe, OrderedOperatorsGoUpATree) {
  in_child({}, [] {
    const json answer = ask(
        R"({"what": "plan", "collective": "allreduce", "bytes": 8, "ranks": 4, "ranks_per_core": 1, "commutative": false})");
    EXPECT_EQ(answer["algorithm"], "tree");
    EXPECT_NE(answer["why"].get<std::string>().find("commute"), std::string::npos) << answer["why"];
  });
}

TEST(Describe, OrderedOperatorsOfScansAndOfWhatReducesNothing) {
  in_child({}, [] {
    const std::string rest = R"(", "bytes": 8, "ranks": 4, "ranks_per_core": 1, "commutative": false})";
    const json scan = ask(R"({"what": "plan", "collective": "scan)" + rest);
    EXPECT_NE(scan["why"].get<std::string>().find("doubling distances"), std::string::npos) << scan["why"];
    const json gather = ask(R"({"what": "plan", "collective": "gather)" + rest);
    EXPECT_EQ(gather["algorithm"], "direct");
    EXPECT_EQ(gather["why"].get<std::string>().find("commute"), std::string::npos) << gather["why"];
  });
}

TEST(Describe, EnvironmentShowsInPlanAndConfig) {
  in_child({{"ESPALIER_BCAST", "host"}, {"ESPALIER_SLOTZ", "3"}, {"ESPALIER_TREE", "bush"}}, [] {
    const json plan =
        ask(R"({"what": "plan", "collective": "bcast", "bytes": 8, "ranks": 4, "ranks_per_core": 1})");
    EXPECT_EQ(plan["algorithm"], "host");
    EXPECT_NE(plan["why"].get<std::string>().find("environment"), std::string::npos) << plan["why"];
    const json config = ask(R"({"what": "config"})");
    bool found = false;
    for (const json& value : config["values"]) {
      for (const char* key : {"key", "value", "default", "origin", "help"})
        EXPECT_TRUE(value.contains(key)) << key;
      if (value["key"] != "ESPALIER_BCAST") continue;
      found = true;
      EXPECT_EQ(value["value"], "host");
      EXPECT_EQ(value["origin"], "environment");
      EXPECT_EQ(value["default"], "");
    }
    EXPECT_TRUE(found);
    ASSERT_EQ(config["warnings"].size(), 2u) << config["warnings"];
    EXPECT_NE(config["warnings"][0].get<std::string>().find("ESPALIER_SLOTS"), std::string::npos);
    EXPECT_NE(config["warnings"][1].get<std::string>().find("bush"), std::string::npos);
  });
}

TEST(Describe, AWindowsTransport) {
  in_child({{"ESPALIER_WINDOW_TRANSPORT", "rma"}}, [] {
    EXPECT_EQ(ask(R"({"what": "window"})")["transport"], "memory");
    const json rma = ask(R"({"what": "window", "nodes": 3})");
    EXPECT_EQ(rma["transport"], "rma");
    EXPECT_EQ(rma["why"], "ESPALIER_WINDOW_TRANSPORT=rma");
    EXPECT_EQ(rma["origin"], "environment");
    EXPECT_EQ(ask(R"({"what": "window", "nodes": 3, "rma": false})")["transport"], "message");
    EXPECT_TRUE(ask(R"({"what": "window", "nodes": 0})").contains("error"));
  });
  in_child({{"ESPALIER_WINDOW_TRANSPORT", "pigeon"}}, [] {
    const json window = ask(R"({"what": "window", "nodes": 2})");
    EXPECT_EQ(window["transport"], "message");
    EXPECT_EQ(window["origin"], "default");
    EXPECT_NE(
        ask(R"({"what": "config"})")["warnings"][0].get<std::string>().find("auto, message, rma or notify"),
        std::string::npos);
  });
}

TEST(Describe, RequestsThatCannotBeServedSayWhy) {
  in_child({}, [] {
    const std::pair<const char*, const char*> requests[] = {
        {"", "parse"},
        {"{\"what\"", "parse"},
        {"{}", "topology, plan, network, window, memory, tuned, config or algorithms"},
        {R"({"what": "weather"})", "weather"},
        {R"({"what": "plan"})", "barrier, bcast, reduce, allreduce"},
        {R"({"what": "plan", "collective": "alltoallx"})", "alltoallx"},
        {R"({"what": "plan", "collective": "bcast", "ranks": 0})", "0 ranks"},
        {R"({"what": "topology", "ranks": 4, "root": 4})", "root 4"},
        {R"({"what": "topology", "synthetic": "no machine"})", "no machine"},
        {R"({"what": "topology", "synthetic": "core:2 pu:1", "tree": "bush"})", "bush"},
        {R"([1, 2])", ""},
        {R"({"what": 5})", ""},
    };
    for (const auto& [request, part] : requests) {
      const json answer = ask(request);
      ASSERT_TRUE(answer.contains("error")) << request << " -> " << answer;
      EXPECT_NE(answer["error"].get<std::string>().find(part), std::string::npos)
          << request << " -> " << answer;
    }
    char* null_answer = espalier_describe(nullptr);
    EXPECT_TRUE(json::parse(null_answer).contains("error"));
    espalier_free(null_answer);
    espalier_free(nullptr);
  });
}

}  // namespace
