// The table of collectives and algorithms, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/collective.hpp"

namespace espalier::capi {

/// The answer to a request {"what": "algorithms"} of describe.h.
nlohmann::json describe_algorithms();

/// The "collective" of a request. Throws Error for a name that is none.
Collective collective_of(const nlohmann::json& request);

}  // namespace espalier::capi
