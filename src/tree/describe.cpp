#include "tree/describe.hpp"

#include <nlohmann/json.hpp>

namespace espalier::tree {

nlohmann::json to_json(const Tree& tree) {
  return {{"root", tree.root},    {"parent", tree.parent},        {"children", tree.children},
          {"depth", depth(tree)}, {"fan_out", max_fan_out(tree)}, {"text", print(tree)}};
}

}  // namespace espalier::tree
