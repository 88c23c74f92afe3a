// Domains and groups as JSON.
#include "topology/describe.hpp"

#include <nlohmann/json.hpp>

namespace espalier::topology {

namespace {

nlohmann::json of_domain(const Domain& domain) {
  auto children = nlohmann::json::array();
  for (const Domain& child : domain.children) children.push_back(of_domain(child));
  return {{"level", to_string(domain.level)},
          {"cpus", domain.cpus.to_string()},
          {"children", std::move(children)}};
}

}  // namespace

nlohmann::json to_json(const Topology& topology) {
  return {{"source", topology.source}, {"machine", of_domain(topology.machine)}};
}

nlohmann::json to_json(const Group& group) {
  auto groups = nlohmann::json::array();
  for (const Group& inner : group.groups) groups.push_back(to_json(inner));
  auto outer = nlohmann::json::array();
  for (Level level : group.outer) outer.push_back(to_string(level));
  return {{"level", to_string(group.level)},
          {"outer", std::move(outer)},
          {"ranks", group.ranks},
          {"groups", std::move(groups)}};
}

}  // namespace espalier::topology
