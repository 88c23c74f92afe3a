#include "simulation/engine/request.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "simulation/engine/asked.hpp"
#include "simulation/engine/replay.hpp"
#include "simulation/engine/room.hpp"

namespace espalier::simulation {
namespace {

using nlohmann::json;

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
      model, shape, layout_for(call, shape), seed,
      [&](SimulatedMachine& m, int) {
        Room room;
        const Buffers buffers = {room.of(sizes.send), room.of(sizes.receive), room.of(sizes.scratch)};
        for (int i = 0; i < calls; ++i) run_call(m, call, shape, *places, buffers);
      },
      with_timeline);
}

struct Answer {
  json rows = json::array(), timeline = json::array();
};

const char* name_of(Act act) {
  static constexpr const char* names[] = {"work",  "copy", "write",   "fold",     "publish",
                                          "await", "send", "receive", "complete", "aggregate"};
  return names[static_cast<std::size_t>(act)];
}

void add(Answer& answer, const json& request, const Model& model, const Point& point) {
  const auto begin = std::chrono::steady_clock::now();
  const int runs = std::max(request.value("runs", 1), 1), calls = std::max(request.value("calls", 1), 1);
  const bool with_timeline = request.value("timeline", false);
  const auto seed = request.value("seed", std::uint64_t{1});
  const Call call = call_of(request, point, model.node);
  if (call.spans(point.shape) && call.network.algorithm == plan::Algorithm::host && !call.aggregated)
    throw Error(formatted("no rule between nodes holds {} of {} bytes on {} nodes: name one with --plan",
                          to_string(call.collective), call.bytes, point.shape.nodes));
  const bool recordable = can_be_recorded(call, point.shape);
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
                         {"network", !call.spans(point.shape) ? ""
                                     : call.aggregated        ? "aggregation"
                                                              : plan::to_string(call.network.algorithm)},
                         {"seconds", took.count()}});
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

}  // namespace espalier::simulation
