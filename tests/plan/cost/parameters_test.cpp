#include "plan/cost/parameters.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "plan/cost/call_cost.hpp"

namespace espalier::plan {
namespace {

const std::string node_part =
    R"("node": {"flag_ns": 1, "copy_ns_per_byte": 2, "reduce_ns_per_byte": 3, "message_ns": 4, "message_ns_per_byte": 5})";
const std::string network_part =
    R"("network": {"latency_ns": 6, "overhead_ns": 7, "gap_ns": 8, "ns_per_byte": 9})";

std::string document(const std::string& rest) { return R"({"schema": 1, "name": "n", )" + rest + "}"; }

std::string complaint_about(const std::string& text) {
  try {
    parse_cost_parameters(text, "m.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CostParameters, EveryKeyIsRead) {
  const CostParameters read = parse_cost_parameters(
      document(node_part + R"(, "comment": "c", "origin": {}, "published": {}, "network": {"latency_ns": 6,
        "overhead_ns": 7, "gap_ns": 8, "ns_per_byte": 9, "link_ns_per_byte": 10, "reduce_ns_per_byte": 11,
        "eager_bytes": 12, "handshake_ns": 13})"),
      "m.json");
  EXPECT_EQ(read.name, "n");
  EXPECT_EQ(read.file, "m.json");
  EXPECT_EQ(read.node.flag, 1);
  EXPECT_EQ(read.node.copy_per_byte, 2);
  EXPECT_EQ(read.node.fold_per_byte, 3);
  EXPECT_EQ(read.node.messages.latency, 4);
  EXPECT_EQ(read.node.messages.per_byte, 5);
  EXPECT_EQ(read.node.messages.fold_per_byte, 3);
  EXPECT_EQ(read.node.messages.copy_per_byte, 2);
  EXPECT_EQ(read.network.latency, 6);
  EXPECT_EQ(read.network.overhead, 7);
  EXPECT_EQ(read.network.gap, 8);
  EXPECT_EQ(read.network.per_byte, 9);
  EXPECT_EQ(read.link_per_byte, 10);
  EXPECT_EQ(read.network.fold_per_byte, 11);
  EXPECT_EQ(read.network.eager_bytes, 12);
  EXPECT_EQ(read.network.handshake, 13);
  EXPECT_EQ(read.network.copy_per_byte, 2);
}

TEST(CostParameters, OptionalKeys) {
  const CostParameters read = parse_cost_parameters(document(node_part + ", " + network_part), "m.json");
  EXPECT_EQ(read.link_per_byte, 9) << "one rank fills the link";
  EXPECT_EQ(read.network.fold_per_byte, 3) << "as the node's";
  EXPECT_EQ(handshake(read.network, 1e9), 0) << "no message asks first";
}

TEST(CostParameters, LongMessagesAskFirst) {
  const Wire wire = {.latency = 600, .per_byte = 1, .eager_bytes = 100, .handshake = 1200};
  EXPECT_EQ(hop(wire, 100), 700);
  EXPECT_EQ(hop(wire, 101), 1901);
}

TEST(CostParameters, ErrorsNameFileAndKey) {
  const std::pair<std::string, const char*> cases[] = {
      {"{", "m.json: not JSON"},
      {"[]", "not an object"},
      {R"({"name": "n"})", "\"schema\" is missing"},
      {R"({"schema": 2, "name": "n"})", "\"schema\" must be 1"},
      {R"({"schema": 1, "name": 5})", "\"name\" must be text"},
      {document(network_part), "\"node\" is missing"},
      {document(node_part), "\"network\" is missing"},
      {document(node_part + R"(, "network": 5)"), "\"network\" is 5"},
      {document(node_part + R"(, "network": {"latency_ns": 6})"), "\"network.overhead_ns\" is missing"},
      {document(node_part + R"(, "network": {"latency_us": 6})"), "\"network.latency_us\" is unknown"},
      {document(node_part + R"(, "network": {"latency_ns": -1})"), "\"network.latency_ns\" is -1"},
      {document(node_part + R"(, "network": {"latency_ns": "6"})"), "must be a number"},
      {document(node_part + ", " + network_part + R"(, "nodes": 4)"), "\"nodes\" is unknown"},
      {document(node_part + R"(, "network": {"latency_ns": 6, "overhead_ns": 7, "gap_ns": 8, "ns_per_byte": 9,
        "eager_bytes": 10})"),
       "\"network.handshake_ns\" is missing"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(complaint_about(text).find(part), std::string::npos) << text << " -> " << complaint_about(text);
  EXPECT_THROW(read_cost_parameters("/no/such/model.json"), Error);
}

TEST(CostParameters, TheModelsThatComeWithEspalierCanBeRead) {
  const auto folder = std::filesystem::path(__FILE__).parent_path() / "../../../python/espalier/models";
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    EXPECT_NO_THROW(read_cost_parameters(file.path())) << file.path();
    ++count;
  }
  EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace espalier::plan
