#include "simulation/engine/asked.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/rules.hpp"
#include "plan/selector.hpp"

namespace espalier::simulation {

using Json = nlohmann::json;

namespace {

/// `bytes` as rules mean it (docs/rules.md).
std::size_t bytes_of_rules(const Call& call, const Shape& shape) {
  const Length length = traits(call.collective).length;
  if (length == Length::none) return 0;
  return length == Length::all_blocks ? call.bytes * static_cast<std::size_t>(shape.ranks()) : call.bytes;
}

plan::Query query_of(const Call& call, const Shape& shape, const NodeModel& node) {
  plan::Query query;
  query.collective = call.collective;
  query.bytes = bytes_of_rules(call, shape);
  query.nodes = shape.nodes;
  query.ranks_per_node = shape.ranks_per_node;
  query.ranks = shape.ranks();
  query.ranks_per_core = static_cast<double>(shape.ranks_per_node) / node.cores();
  query.single_copy = query.shared_heaps = false;
  return query;
}

plan::Rule rule_of(Json rule, Collective collective, const char* what) {
  if (!rule.is_object()) throw Error(formatted("\"{}\" is {}, not a rule", what, rule.dump()));
  rule["collective"] = to_string(collective);
  std::vector<std::string> warnings;
  const auto rules =
      plan::parse_rules(Json{{"schema", 1}, {"rules", {rule}}}.dump(), "the request", warnings);
  if (!warnings.empty()) throw Error(warnings.front());
  return rules.front();
}

NodeStageKind stage_of(const Json& rules) {
  const std::string name = rules.value("stage", "shared");
  if (name == "shared") return NodeStageKind::shared;
  if (name == "messages") return NodeStageKind::messages;
  if (name == "none") return NodeStageKind::none;
  throw Error(formatted("a stage is shared, messages or none, not \"{}\"", name));
}

int root_of(const Json& request, const Shape& shape) {
  const int root = request.value("root", 0);
  if (root < 0 || root >= shape.ranks())
    throw Error(formatted("root {}: there are ranks 0 to {}", root, shape.ranks() - 1));
  return root;
}

plan::Plan node_plan(const Call& call, const Shape& shape, const NodeModel& node, const Json& rules) {
  if (rules.contains("node")) return rule_of(rules["node"], call.collective, "node").plan;
  plan::Query query = query_of(call, shape, node);
  query.nodes = 1;
  query.ranks = query.ranks_per_node;
  return plan::Table::instance().find(query);
}

plan::NetworkPlan network_plan(const Call& call, const Shape& shape, const NodeModel& node,
                               const Json& rules) {
  if (rules.contains("network")) return rule_of(rules["network"], call.collective, "network").network;
  return plan::Table::instance().find_network(query_of(call, shape, node));
}

constexpr std::size_t page = machine::Layout::page;

int whole_slots(int slots) {
  if (slots < 1 || slots > 64 || (slots & (slots - 1)) != 0)
    throw Error(formatted("{} slots: a power of two, 64 at most", slots));
  return slots;
}

}  // namespace

Call call_of(const Json& request, const Point& point, const NodeModel& node) {
  Call call;
  const std::string name = request.value("collective", "");
  const auto collective = parse_collective(name);
  if (!collective) throw Error(formatted("\"{}\" is no collective", name));
  call.collective = *collective;
  call.bytes = *collective == Collective::barrier ? 0 : (point.bytes + 7) / 8 * 8;
  call.root = root_of(request, point.shape);
  call.stage = stage_of(point.rules);
  call.node = node_plan(call, point.shape, node, point.rules);
  call.network = network_plan(call, point.shape, node, point.rules);
  call.aggregated = point.rules.value("aggregated", false);
  call.slots = whole_slots(point.rules.value("slots", request.value("slots", call.slots)));
  call.slot_bytes = point.rules.value("slot_bytes", request.value("slot_bytes", call.slot_bytes));
  if (call.slot_bytes < page || call.slot_bytes % page != 0)
    throw Error(formatted("a slot of {} bytes: it has whole pages of {}", call.slot_bytes, page));
  return call;
}

std::vector<Point> points_of(const Json& request) {
  std::vector<Point> points;
  const Json variants = request.value("variants", Json::array({Json{{"name", "rules"}}}));
  for (const Json& variant : variants)
    for (const std::size_t bytes : request.value("bytes", std::vector<std::size_t>{8}))
      for (const int ranks : request.value("ranks_per_node", std::vector<int>{1}))
        for (const int nodes : request.value("nodes", std::vector<int>{1})) {
          if (nodes < 1 || ranks < 1 || nodes > (1 << 24) / ranks)
            throw Error(formatted("{} nodes of {} ranks: at least 1 of each, and {} ranks at most", nodes,
                                  ranks, 1 << 24));
          points.push_back({variant.value("name", "rules"), variant, bytes,
                            Shape{nodes, ranks, request.value("spread", false)}});
        }
  return points;
}

}  // namespace espalier::simulation
