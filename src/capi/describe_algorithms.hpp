// The table of collectives and algorithms, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace espalier::capi {

/// The answer to a request {"what": "algorithms"} of describe.h.
nlohmann::json describe_algorithms();

}  // namespace espalier::capi
