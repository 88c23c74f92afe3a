#include "simulation/engine/request.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace espalier::simulation {
namespace {

using nlohmann::json;

json ask(json request) {
  request["model"] = std::string(ESPALIER_SOURCE) + "/python/espalier/models/frontera.json";
  return json::parse(answer(request.dump()));
}

TEST(Request, ARowForEachVariantSizeAndShape) {
  const json found = ask({{"collective", "allreduce"},
                          {"bytes", {16, 2048}},
                          {"nodes", {4, 16}},
                          {"ranks_per_node", {1, 2}},
                          {"variants",
                           {{{"name", "doubling"}, {"network", {{"network", "recursive-doubling"}}}},
                            {{"name", "sharp"}, {"aggregated", true}}}}});
  ASSERT_TRUE(found.contains("rows")) << found;
  EXPECT_EQ(found["rows"].size(), 16u);
  for (const json& row : found["rows"]) EXPECT_GT(row["ns"].get<double>(), 1000) << row;
  EXPECT_EQ(found["rows"][0]["network"], "recursive-doubling");
  EXPECT_EQ(found["rows"][15]["network"], "aggregation");
}

TEST(Request, TheRulesServeWhereNoVariantIsNamed) {
  const json found =
      ask({{"collective", "allreduce"}, {"bytes", {8}}, {"nodes", {1}}, {"ranks_per_node", {8}}});
  ASSERT_TRUE(found.contains("rows")) << found;
  EXPECT_EQ(found["rows"][0]["node"], "exchange");
}

TEST(Request, AnAlgorithmThatCannotBeRecordedRunsWithData) {
  const json found = ask({{"collective", "allreduce"},
                          {"ranks_per_node", {6}},
                          {"timeline", true},
                          {"variants", {{{"name", "central"}, {"node", {{"algorithm", "central"}}}}}}});
  ASSERT_TRUE(found.contains("rows")) << found;
  EXPECT_EQ(found["rows"][0]["programs"], 0);
  EXPECT_FALSE(found["timeline"].empty());
}

TEST(Request, SlotsCount) {
  const json found =
      ask({{"collective", "bcast"},
           {"bytes", {262144}},
           {"ranks_per_node", {28}},
           {"slots", 8},
           {"slot_bytes", 8192},
           {"variants",
            {{{"name", "eight"}, {"node", {{"algorithm", "tree"}, {"chunk", 8192}}}},
             {{"name", "one"}, {"slots", 1}, {"node", {{"algorithm", "tree"}, {"chunk", 8192}}}}}}});
  ASSERT_TRUE(found.contains("rows")) << found;
  EXPECT_GT(found["rows"][1]["ns"].get<double>(), 1.2 * found["rows"][0]["ns"].get<double>());
  EXPECT_TRUE(ask({{"collective", "bcast"}, {"slots", 3}}).contains("error"));
  EXPECT_TRUE(ask({{"collective", "bcast"}, {"slot_bytes", 100}}).contains("error"));
}

TEST(Request, NoiseCostsTime) {
  json request = {{"collective", "allreduce"},
                  {"bytes", {16}},
                  {"nodes", {512}},
                  {"runs", 3},
                  {"variants", {{{"name", "doubling"}, {"network", {{"network", "recursive-doubling"}}}}}}};
  const double quiet = ask(request)["rows"][0]["ns"];
  request["noise"] = {{"rate_hz", 10000}, {"duration_ns", 10000}};
  const json noisy = ask(request);
  EXPECT_GT(noisy["rows"][0]["ns"].get<double>(), quiet);
  EXPECT_LE(noisy["rows"][0]["lowest_ns"], noisy["rows"][0]["highest_ns"]);
}

// What ranks write together is not simulated as something else.
TEST(Request, PlansThroughWindowsAreRefused) {
  const auto said = [](const char* collective, const json& network) {
    const json found = ask({{"collective", collective},
                            {"bytes", {4096}},
                            {"nodes", {4}},
                            {"ranks_per_node", {2}},
                            {"variants", {{{"name", "it"}, {"network", network}}}}});
    return found.value("error", "");
  };
  for (const char* collective : {"allreduce", "allgather", "allgatherv"})
    EXPECT_NE(said(collective, {{"network", "notified-ring"}}).find("simulate ring"), std::string::npos);
  EXPECT_NE(said("allreduce", {{"network", "notified-dissemination"}}).find("simulate dissemination"),
            std::string::npos);
  EXPECT_NE(said("allgather", {{"network", "ring"}, {"leaders", "all"}}).find("leaders=1"),
            std::string::npos);
  EXPECT_EQ(said("allgather", {{"network", "ring"}}), "");
  EXPECT_EQ(said("allreduce", {{"network", "ring"}, {"leaders", "all"}}), "") << "each its slice, in slots";
}

TEST(Request, MistakesAreAnswered) {
  EXPECT_TRUE(ask({{"collective", "alldance"}}).contains("error"));
  EXPECT_TRUE(ask({{"collective", "allreduce"}, {"nodes", {0}}}).contains("error"));
  EXPECT_TRUE(ask({{"collective", "bcast"}, {"nodes", {4}}, {"root", 4}}).contains("error"));
  EXPECT_TRUE(ask({{"collective", "bcast"}, {"nodes", {4}}, {"variants", {{{"stage", "letters"}}}}})
                  .contains("error"));
  EXPECT_TRUE(json::parse(answer("{")).contains("error"));
  EXPECT_TRUE(json::parse(answer("{}")).contains("error"));
}

}  // namespace
}  // namespace espalier::simulation
