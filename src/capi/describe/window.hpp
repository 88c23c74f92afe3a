// What would carry a window's puts.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace espalier::capi {

/// The answer to a request {"what": "window"} of describe.h. Throws Error, and what the JSON library throws,
/// for requests that cannot be served.
nlohmann::json describe_window(const nlohmann::json& request);

}  // namespace espalier::capi
