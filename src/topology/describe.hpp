#pragma once

#include <nlohmann/json_fwd.hpp>

#include "topology/group.hpp"
#include "topology/topology.hpp"

namespace espalier::topology {

// For the command, which draws them.
// {"source": "…", "machine": {"level": "machine", "cpus": "0-3", "children": [ … ]}}
nlohmann::json to_json(const Topology& topology);

// {"level": "package", "outer": ["machine"], "ranks": [0, 1], "groups": [ … ]}
nlohmann::json to_json(const Group& group);

}  // namespace espalier::topology
