// What `espalier simulate --calibrate`, `espalier doctor` and prediction.py ask: a request on standard input, the
// answer on standard output. {"calibrate": true} gives what calibrate() finds, {"latencies": 64} what
// latencies() finds among so many cores; other requests are those of `espalier simulate`, measured.
#include <iostream>
#include <iterator>

#include "base/error.hpp"
#include "simulation/measure/calibrate.hpp"
#include "simulation/measure/calls.hpp"
#include "simulation/measure/latencies.hpp"
#include "topology/discover.hpp"

namespace {

nlohmann::json answer(const nlohmann::json& request) {
  using namespace espalier;
  const topology::Topology topology = topology::discover(topology::Source::this_machine());
  const std::vector<int> cpus = measure::cores_in(topology, topology::current_affinity());
  if (request.value("calibrate", false))
    return measure::calibrate(cpus, measure::distances_in(topology, cpus));
  if (request.contains("latencies")) return measure::latencies(cpus, request["latencies"]);
  return {{"cores", cpus.size()}, {"rows", measure::measure_calls(request, cpus)}};
}

}  // namespace

int main() {
  try {
    const auto request = nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
    std::cout << answer(request) << "\n";
  } catch (const std::exception& error) {
    std::cout << nlohmann::json{{"error", error.what()}} << "\n";
  }
}
