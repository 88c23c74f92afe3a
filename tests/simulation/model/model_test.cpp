#include "simulation/model/model.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"

namespace espalier::simulation {
namespace {

/// A file of the cost model with this as its part "simulate".
std::string file_with(const std::string& part) {
  return R"({"schema": 1, "name": "made up",
    "network": {"latency_ns": 1000, "overhead_ns": 100, "gap_ns": 50, "ns_per_byte": 0.5},
    "node": {"flag_ns": 100, "copy_ns_per_byte": 0.1, "reduce_ns_per_byte": 0.2, "message_ns": 500,
             "message_ns_per_byte": 0.3})" +
         (part.empty() ? "" : ", \"simulate\": " + part) + "}";
}
const std::string levels =
    R"("levels": [{"name": "l3", "cores": 4, "line_ns": 50, "copy_ns_per_byte": 0.1},
                  {"name": "machine", "cores": 16, "line_ns": 120, "copy_ns_per_byte": 0.2}])";

TEST(Model, TakesMessagesFromTheCostModelAndTheRestFromItsPart) {
  const Model model =
      parse_model(file_with("{" + levels +
                            R"(, "cards": 2, "switches": [{"nodes": 20, "latency_ns": 300}], "wake_ns": 7,
                   "aggregation": {"radix": 16, "hop_ns": 400}, "noise": {"rate_hz": 10, "duration_ns": 20}})"),
                  "file.json");
  EXPECT_EQ(model.network.wire.latency, 1000);
  EXPECT_EQ(model.network.link_ns_per_byte, 0.5);
  EXPECT_EQ(model.node.reduce_ns_per_byte, 0.2);
  EXPECT_EQ(model.node.cores(), 16);
  EXPECT_EQ(model.node.claim_part, 0.5);
  EXPECT_EQ(model.node.reads_under_way, 1);
  EXPECT_EQ(model.node.controller_cores, 16);
  EXPECT_EQ(model.network.cards, 2);
  EXPECT_EQ(model.network.switches.at(0).nodes, 20);
  EXPECT_EQ(model.node.wake_ns, 7);
  EXPECT_EQ(model.aggregation.radix, 16);
  EXPECT_EQ(model.noise.rate_hz, 10);
}

void expect_error(const std::string& part, const std::string& what) {
  try {
    parse_model(file_with(part), "file.json");
    ADD_FAILURE() << part << " was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("file.json"), std::string::npos) << error.what();
  }
}

TEST(Model, ErrorsSayWhere) {
  expect_error("", "has no part \"simulate\"");
  expect_error("{}", "needs \"levels\"");
  expect_error("{" + levels + R"(, "wake": 1})", "\"wake\" is unknown");
  expect_error("{" + levels + R"(, "wake_ns": -1})", "from 0 on");
  expect_error("{" + levels + R"(, "cards": 1.5})", "whole number");
  expect_error("{" + levels + R"(, "claim_part": 1.5})", "1 at most");
  expect_error("{" + levels + R"(, "reads_under_way": 0})", "1 at least");
  expect_error("{" + levels + R"(, "aggregation": {"radix": 4, "hops": 1}})", "simulate.aggregation");
  expect_error(R"({"levels": [{"name": "l3", "cores": 4}, {"name": "machine", "cores": 2}]})",
               "from the innermost");
}

TEST(Model, ThoseThatComeWithEspalierCanBeRead) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ESPALIER_SOURCE) + "/python/espalier/models")) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_NO_THROW(EXPECT_GT(read_model(entry.path()).node.cores(), 1)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 8);
}

}  // namespace
}  // namespace espalier::simulation
