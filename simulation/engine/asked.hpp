// The calls that a request asks for (request.hpp).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulation/engine/call.hpp"

namespace espalier::simulation {

/// One line of the answer.
struct Point {
  std::string variant;
  nlohmann::json rules;  ///< the variant as it is in the request
  std::size_t bytes;
  Shape shape;
};

/// All variants, sizes and shapes. Throws Error for shapes that are none.
std::vector<Point> points_of(const nlohmann::json& request);

/// What is called there; plans that the request does not name come from the rules in force. Throws Error for
/// an unknown collective and for rules that are none.
Call call_of(const nlohmann::json& request, const Point& point, const NodeModel& node);

}  // namespace espalier::simulation
