// What a call over nodes would do, and how long it would take by the cost model.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.hpp"

namespace espalier::capi {

/// The answer to a request {"what": "network"} of describe.h. Throws Error, and what the JSON library throws,
/// for requests that cannot be served.
nlohmann::json describe_network(const nlohmann::json& request);

/// Where a rule stands and how it is written.
nlohmann::json describe_rule(const plan::Origin& origin);

}  // namespace espalier::capi
