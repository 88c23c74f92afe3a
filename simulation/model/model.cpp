#include "simulation/model/model.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"

namespace espalier::simulation {
namespace {

using Json = nlohmann::json;

/// One object of the file; says where a fault is.
class Part {
 public:
  Part(const Json& object, std::string path, const std::string& file)
      : json_(object), path_(std::move(path)), file_(file) {
    if (!object.is_object()) fail("must be an object");
  }

  double number(const char* key, double otherwise = 0) {
    known_.insert(key);
    if (!json_.contains(key)) return otherwise;
    const Json& value = json_.at(key);
    if (!value.is_number() || value.get<double>() < 0)
      fail(formatted("\"{}\" must be a number from 0 on", key));
    return value.get<double>();
  }
  int whole(const char* key, int otherwise, int least) {
    const double value = number(key, otherwise);
    if (value != static_cast<int>(value) || value < least)
      fail(formatted("\"{}\" must be a whole number from {} on", key, least));
    return static_cast<int>(value);
  }
  std::string text(const char* key) {
    known_.insert(key);
    if (!json_.contains(key) || !json_.at(key).is_string()) fail(formatted("\"{}\" must be a text", key));
    return json_.at(key).get<std::string>();
  }
  template <class Read>
  void each(const char* key, Read read) {
    known_.insert(key);
    if (!json_.contains(key)) return;
    if (!json_.at(key).is_array()) fail(formatted("\"{}\" must be a list", key));
    int index = 0;
    for (const Json& item : json_.at(key)) {
      Part part(item, formatted("{}.{}[{}]", path_, key, index++), file_);
      read(part);
      part.done();
    }
  }
  template <class Read>
  void inner(const char* key, Read read) {
    known_.insert(key);
    if (!json_.contains(key)) return;
    Part part(json_.at(key), path_ + "." + key, file_);
    read(part);
    part.done();
  }
  void done() const {
    for (const auto& [key, value] : json_.items())
      if (!known_.contains(key))
        fail(formatted("\"{}\" is unknown; there are {}", key, joined(known_, ", ")));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(formatted("{}: {}: {}", file_, path_, what));
  }

 private:
  const Json& json_;
  std::string path_;
  const std::string& file_;
  std::set<std::string> known_;
};

void read_node(Part& part, Model& model) {
  NodeModel& node = model.node;
  part.each("levels", [&](Part& level) {
    node.levels.push_back({level.text("name"), level.whole("cores", 1, 1), level.number("line_ns"),
                           level.number("copy_ns_per_byte")});
  });
  if (node.levels.empty()) part.fail("needs \"levels\": how far apart cores are");
  for (std::size_t i = 1; i < node.levels.size(); ++i)
    if (node.levels[i].cores < node.levels[i - 1].cores)
      part.fail("\"levels\" must go from the innermost out");
  node.claim_part = part.number("claim_part", node.claim_part);
  if (node.claim_part > 1) part.fail("\"claim_part\" is a part of line_ns: 1 at most");
  for (const auto& [key, value] : {std::pair("reads_under_way", &node.reads_under_way),
                                   std::pair("stores_under_way", &node.stores_under_way)}) {
    *value = part.number(key, *value);
    if (*value < 1) part.fail(formatted("\"{}\" must be 1 at least", key));
  }
  node.reader_gap_ns = part.number("reader_gap_ns");
  node.own_copy_ns_per_byte = part.number("own_copy_ns_per_byte");
  node.controller_ns_per_byte = part.number("controller_ns_per_byte");
  node.controller_cores = part.whole("controller_cores", node.cores(), 1);
  node.wake_ns = part.number("wake_ns");
}

void read_rest(Part& part, Model& model) {
  model.network.cards = part.whole("cards", 1, 1);
  part.each("switches", [&](Part& level) {
    model.network.switches.push_back({level.whole("nodes", 1, 1), level.number("latency_ns")});
  });
  part.inner("aggregation", [&](Part& p) {
    model.aggregation = {
        p.whole("radix", 0, 2),  p.number("overhead_ns"),          p.number("hop_ns"),
        p.number("down_hop_ns"), p.whole("payload_bytes", 256, 1), p.whole("outstanding", 1, 1),
        p.number("ns_per_byte")};
  });
  part.inner("noise", [&](Part& p) {
    model.noise = {p.number("rate_hz"), p.number("duration_ns"), p.number("skew_ns")};
  });
}

}  // namespace

Model parse_model(std::string_view text, const std::string& file) {
  const plan::CostParameters costs = plan::parse_cost_parameters(text, file);
  const Json whole = Json::parse(text);
  if (!whole.contains("simulate"))
    throw Error(formatted("{}: has no part \"simulate\"; it serves `espalier explain` only", file));
  Model model;
  model.name = costs.name;
  model.file = file;
  model.network.wire = costs.network;
  model.network.link_ns_per_byte = costs.link_per_byte;
  model.node.reduce_ns_per_byte = costs.node.fold_per_byte;
  model.node.messages = costs.node.messages;
  Part part(whole.at("simulate"), "simulate", file);
  read_node(part, model);
  read_rest(part, model);
  part.done();
  return model;
}

Model read_model(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw Error(formatted("{}: cannot be opened", path));
  return parse_model(*text, path);
}

}  // namespace espalier::simulation
