// Reads the parameters of the cost model from JSON.
#include "plan/cost/parameters.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "plan/positions.hpp"

namespace espalier::plan {
namespace {

using nlohmann::json;

/// One object of the file. Every error names file and key. An unknown key is an error: if it is a mistyped
/// one, a time would stay 0.
class Reader {
 public:
  Reader(const json& object, std::string name, const std::string& file)
      : object_(object), name_(std::move(name)), file_(file) {
    if (!object_.is_object()) fail(name_, formatted("is {}, not an object {{...}}", object_.dump()));
  }

  /// Throws if the object has a key that is not in `known`.
  void only(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : object_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(path(key), formatted("is unknown; there are {}", joined(known, ", ")));
  }

  const json& at(const std::string& key) const {
    if (!object_.contains(key)) fail(path(key), "is missing");
    return object_[key];
  }

  std::optional<double> maybe(const std::string& key) const {
    if (!object_.contains(key)) return std::nullopt;
    const json& value = object_[key];
    if (!value.is_number() || value.get<double>() < 0)
      fail(path(key), formatted("is {}; it must be a number from 0 on", value.dump()));
    return value.get<double>();
  }

  double number(const std::string& key) const {
    at(key);
    return *maybe(key);
  }

  std::string path(const std::string& key) const {
    return name_.empty() ? key : formatted("{}.{}", name_, key);
  }

  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw Error(formatted("cost model {}: \"{}\" {}", file_, key, problem));
  }

 private:
  const json& object_;
  std::string name_;
  const std::string& file_;
};

NodeCosts read_node(const Reader& node) {
  node.only({"flag_ns", "copy_ns_per_byte", "reduce_ns_per_byte", "message_ns", "message_ns_per_byte"});
  NodeCosts costs;
  costs.flag = node.number("flag_ns");
  costs.copy_per_byte = node.number("copy_ns_per_byte");
  costs.fold_per_byte = node.number("reduce_ns_per_byte");
  costs.messages.latency = node.number("message_ns");
  costs.messages.per_byte = node.number("message_ns_per_byte");
  costs.messages.fold_per_byte = costs.fold_per_byte;
  costs.messages.copy_per_byte = costs.copy_per_byte;
  return costs;
}

Wire read_network(const Reader& network, const NodeCosts& node) {
  network.only({"latency_ns", "overhead_ns", "gap_ns", "ns_per_byte", "link_ns_per_byte", "eager_bytes",
                "handshake_ns", "reduce_ns_per_byte"});
  Wire wire;
  wire.latency = network.number("latency_ns");
  wire.overhead = network.number("overhead_ns");
  wire.gap = network.number("gap_ns");
  wire.per_byte = network.number("ns_per_byte");
  if (network.maybe("eager_bytes") || network.maybe("handshake_ns")) {
    wire.eager_bytes = network.number("eager_bytes");
    wire.handshake = network.number("handshake_ns");
  }
  wire.fold_per_byte = network.maybe("reduce_ns_per_byte").value_or(node.fold_per_byte);
  wire.copy_per_byte = node.copy_per_byte;
  return wire;
}

json parse(std::string_view text, const std::string& file) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw Error(formatted("cost model {}: not JSON: {}", file, plain_parse_error(error.what())));
  }
}

}  // namespace

CostParameters parse_cost_parameters(std::string_view text, const std::string& file) {
  const json document = parse(text, file);
  const Reader top(document, "", file);
  top.only({"schema", "name", "comment", "origin", "published", "network", "node", "simulate"});
  if (top.at("schema") != 1) top.fail("schema", "must be 1, the only one that this Espalier knows");
  if (!top.at("name").is_string()) top.fail("name", "must be text: what machine this is");
  CostParameters parameters;
  parameters.file = file;
  parameters.name = document["name"];
  parameters.node = read_node(Reader(top.at("node"), "node", file));
  const Reader network(top.at("network"), "network", file);
  parameters.network = read_network(network, parameters.node);
  parameters.link_per_byte = network.maybe("link_ns_per_byte").value_or(parameters.network.per_byte);
  return parameters;
}

CostParameters read_cost_parameters(const std::string& path) {
  std::string why;
  const auto text = read_file(path, why);
  if (!text) throw Error(formatted("cannot read the cost model {}: {}", path, why));
  return parse_cost_parameters(*text, path);
}

}  // namespace espalier::plan
