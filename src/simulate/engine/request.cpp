#include "simulate/engine/request.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/rules.hpp"
#include "plan/selector.hpp"
#include "simulate/engine/replay.hpp"

namespace espalier::simulate {
namespace {

using nlohmann::json;

struct Point {
  std::string variant;
  json rules;
  std::size_t bytes;
  Shape shape;
};

plan::Query query_of(const Call& call, const Shape& shape, const NodeModel& node) {
  plan::Query query;
  query.collective = call.collective;
  query.bytes = call.bytes;
  query.nodes = shape.nodes;
  query.ranks_per_node = shape.ranks_per_node;
  query.ranks = shape.ranks();
  query.ranks_per_core = static_cast<double>(shape.ranks_per_node) / node.cores();
  query.single_copy = false;
  return query;
}

plan::Rule rule_of(json rule, Collective collective, const char* what) {
  if (!rule.is_object()) throw Error(formatted("\"{}\" is {}, not a rule", what, rule.dump()));
  rule["collective"] = to_string(collective);
  std::vector<std::string> warnings;
  const auto rules =
      plan::parse_rules(json{{"schema", 1}, {"rules", {rule}}}.dump(), "the request", warnings);
  if (!warnings.empty()) throw Error(warnings.front());
  return rules.front();
}

/// The node stage of a call over nodes is on trees; only of its plan's trees and chunk there is use.
plan::Plan node_plan(const Call& call, const Shape& shape, const NodeModel& node, const json& rules) {
  if (rules.contains("node")) return rule_of(rules["node"], call.collective, "node").plan;
  plan::Query query = query_of(call, shape, node);
  query.nodes = 1;
  query.ranks = query.ranks_per_node;
  return plan::Table::instance().find(query);
}

plan::NetworkPlan network_plan(const Call& call, const Shape& shape, const NodeModel& node,
                               const json& rules) {
  if (rules.contains("network")) return rule_of(rules["network"], call.collective, "network").network;
  return plan::Table::instance().find_network(query_of(call, shape, node));
}

Call call_of(const json& request, const Point& point, const NodeModel& node) {
  Call call;
  const std::string name = request.value("collective", "");
  const auto collective = parse_collective(name);
  if (!collective) throw Error(formatted("\"{}\" is no collective", name));
  call.collective = *collective;
  call.bytes = *collective == Collective::barrier ? 0 : (point.bytes + 7) / 8 * 8;
  call.node = node_plan(call, point.shape, node, point.rules);
  call.network = network_plan(call, point.shape, node, point.rules);
  call.aggregated = point.rules.value("aggregated", false);
  return call;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Where control flow depends on time the ranks run themselves, with data.
Times run_with_data(const Model& model, const Call& call, const Shape& shape, int calls, std::uint64_t seed,
                    bool with_timeline) {
  const auto places = places_for(call, shape, model.node);
  const BufferSizes sizes = buffer_sizes(call, shape);
  return run_live(
      model, shape, layout_for(shape), seed,
      [&](SimulatedMachine& m, int) {
        std::vector<std::byte> send(sizes.send), receive(sizes.receive), scratch(sizes.scratch);
        for (int i = 0; i < calls; ++i)
          run_call(m, call, shape, *places, {send.data(), receive.data(), scratch.data()});
      },
      with_timeline);
}

struct Answer {
  json rows = json::array(), timeline = json::array();
};

const char* name_of(Act act) {
  static constexpr const char* names[] = {"work", "copy",    "fold",     "publish",  "await",
                                          "send", "receive", "complete", "aggregate"};
  return names[static_cast<std::size_t>(act)];
}

void add(Answer& answer, const json& request, const Model& model, const Point& point) {
  const auto begin = std::chrono::steady_clock::now();
  const int runs = std::max(request.value("runs", 1), 1), calls = std::max(request.value("calls", 1), 1);
  const bool with_timeline = request.value("timeline", false);
  const auto seed = request.value("seed", std::uint64_t{1});
  const Call call = call_of(request, point, model.node);
  if (point.shape.nodes > 1 && call.network.algorithm == plan::Algorithm::host && !call.aggregated)
    throw Error(formatted("no rule between nodes holds {} of {} bytes on {} nodes: name one with --plan",
                          to_string(call.collective), call.bytes, point.shape.nodes));
  const bool recordable = can_be_recorded(call) || point.shape.nodes > 1;
  const Recording recording =
      recordable ? record(call, point.shape, model.node, calls) : Recording(point.shape);
  std::vector<double> lasts, means;
  for (int run = 0; run < runs; ++run) {
    const Times times = recordable
                            ? replay(model, recording, seed + static_cast<std::uint64_t>(run), with_timeline)
                            : run_with_data(model, call, point.shape, calls,
                                            seed + static_cast<std::uint64_t>(run), with_timeline);
    lasts.push_back(times.last() / calls);
    means.push_back(times.mean() / calls);
    if (run > 0) continue;
    for (const Span& span : times.timeline)
      answer.timeline.push_back({{"variant", point.variant},
                                 {"rank", span.rank},
                                 {"begin_ns", span.begin},
                                 {"end_ns", span.end},
                                 {"act", name_of(span.act)}});
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  answer.rows.push_back({{"variant", point.variant},
                         {"bytes", call.bytes},
                         {"nodes", point.shape.nodes},
                         {"ranks_per_node", point.shape.ranks_per_node},
                         {"ns", median(lasts)},
                         {"mean_ns", median(means)},
                         {"lowest_ns", *std::min_element(lasts.begin(), lasts.end())},
                         {"highest_ns", *std::max_element(lasts.begin(), lasts.end())},
                         {"programs", recording.distinct()},
                         {"node", plan::to_string(call.node.algorithm)},
                         {"network", point.shape.nodes == 1 ? ""
                                     : call.aggregated      ? "aggregation"
                                                            : plan::to_string(call.network.algorithm)},
                         {"seconds", took.count()}});
}

std::vector<Point> points_of(const json& request) {
  std::vector<Point> points;
  const json variants = request.value("variants", json::array({json{{"name", "rules"}}}));
  for (const json& variant : variants)
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

}  // namespace

std::string answer(std::string_view text) {
  try {
    const json request = json::parse(text);
    Model model = read_model(request.at("model"));
    if (request.contains("noise")) {
      const json& noise = request["noise"];
      model.noise = {noise.value("rate_hz", 0.0), noise.value("duration_ns", 0.0),
                     noise.value("skew_ns", 0.0)};
    }
    Answer found;
    for (const Point& point : points_of(request)) add(found, request, model, point);
    return json{
        {"model", model.name}, {"file", model.file}, {"rows", found.rows}, {"timeline", found.timeline}}
        .dump();
  } catch (const std::exception& error) {
    return json{{"error", error.what()}}.dump();
  }
}

}  // namespace espalier::simulate
