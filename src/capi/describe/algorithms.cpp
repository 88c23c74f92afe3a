#include "capi/describe/algorithms.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/algorithms.hpp"

namespace espalier::capi {
namespace {

using nlohmann::json;

const char* name_of(plan::Requirement requirement) {
  switch (requirement) {
    case plan::Requirement::single_copy:
      return "ranks may read each other's memory";
    case plan::Requirement::aggregation_nodes:
      return "the job has aggregation nodes";
    case plan::Requirement::consecutive_ranks:
      return "each node's ranks follow on each other";
    case plan::Requirement::nothing:
      break;
  }
  return "";
}

json describe_use(const plan::AlgorithmUse& use) {
  json collectives = json::array();
  for (const Collective collective : all_collectives)
    if (use.collectives.contains(collective)) collectives.push_back(to_string(collective));
  return {{"scope", use.scope == plan::Scope::node ? "node" : "network"},
          {"collectives", collectives},
          {"algorithm", plan::to_string(use.algorithm)},
          {"requires", name_of(use.requirement)},
          {"description", use.description},
          {"source", use.source}};
}

}  // namespace

json describe_algorithms() {
  json uses = json::array();
  for (const plan::AlgorithmUse& use : plan::algorithm_uses) uses.push_back(describe_use(use));
  return {{"collectives", collective_names}, {"algorithms", uses}};
}

Collective collective_of(const json& request) {
  const std::string name = request.value("collective", "");
  if (const auto collective = parse_collective(name)) return *collective;
  throw Error(
      formatted("\"{}\" is no collective that Espalier takes: {}", name, joined(collective_names, ", ")));
}

}  // namespace espalier::capi
