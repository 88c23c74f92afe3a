// The program that contention.py runs: a request on standard input, the answer on standard output.
//
//     {"model": "file.json", "nodes": 64, "leaf": 8, "spines": 4, "strewn": 0,
//      "calls": [{"collective": "allreduce", "algorithm": "ring", "bytes": 1048576}]}
//
// "leaf", "spines" and "strewn" are those of Wiring (cluster.hpp). The model's network is taken without gap,
// with one card and with the leaves as its switches, which add its latency once more. The answer: {"calls":
// [{"collective", "algorithm", "bytes", "engine_ns", "simgrid_ns"}]}, or {"error": text}.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "simulation/simgrid/player.hpp"

namespace espalier::simulation {
namespace {

using nlohmann::json;

Model model_of(const json& request) {
  Model model = read_model(request.at("model"));
  model.network.wire.gap = 0;
  model.network.cards = 1;
  model.network.link_ns_per_byte = model.network.wire.per_byte;
  model.network.switches.clear();
  if (const int leaf = request.at("leaf"); leaf > 0)
    model.network.switches.push_back({leaf, model.network.wire.latency});
  return model;
}

Call call_of(const json& asked) {
  const std::string collective = asked.at("collective"), algorithm = asked.at("algorithm");
  Call call;
  const auto found = parse_collective(collective);
  const auto by = plan::parse_algorithm(algorithm);
  if (!found || !by) throw Error(formatted("there is no {} by {}", collective, algorithm));
  call.collective = *found;
  call.bytes = asked.at("bytes").get<std::size_t>() / 8 * 8;
  call.node.algorithm = plan::Algorithm::tree;
  call.network.algorithm = *by;
  call.network.tree = tree::parse_spec("knomial:2");
  call.network.segment = std::max<std::size_t>(call.bytes, 8);
  return call;
}

json answer(const json& request) {
  const Model model = model_of(request);
  const Shape shape{request.at("nodes"), 1};
  std::vector<Recording> recordings;
  for (const json& asked : request.at("calls"))
    recordings.push_back(record(call_of(asked), shape, model.node));
  const Wiring wiring{request.at("leaf"), request.at("spines"), request.value("strewn", std::uint64_t{0})};
  Cluster cluster(model, shape.nodes, wiring);
  const auto played = play_in_simgrid(cluster, recordings);
  json calls = request.at("calls");
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    calls[i]["engine_ns"] = replay(model, recordings[i], 1).last();
    calls[i]["simgrid_ns"] = *std::max_element(played[i].begin(), played[i].end());
  }
  return {{"calls", calls}};
}

}  // namespace
}  // namespace espalier::simulation

int main() {
  try {
    const auto request = nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
    std::cout << espalier::simulation::answer(request) << "\n";
  } catch (const std::exception& error) {
    std::cout << nlohmann::json{{"error", error.what()}} << "\n";
    return 1;
  }
}
