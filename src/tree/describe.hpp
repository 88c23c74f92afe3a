#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tree/tree.hpp"

namespace espalier::tree {

// For the command, which draws it:
// {"root": 0, "parent": [-1, 0, …], "children": [[1, 2], …], "depth": 1, "fan_out": 2, "text": "0(1 2)"}
nlohmann::json to_json(const Tree& tree);

}  // namespace espalier::tree
