// What a job of so many ranks would take of this machine's memory.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace espalier::capi {

/// The answer to a request {"what": "memory"} of describe.h, for ranks that all are on this node. Throws Error,
/// and what the JSON library throws, for requests that cannot be served.
nlohmann::json describe_memory(int ranks, double ranks_per_core);

}  // namespace espalier::capi
