// Collective calls of a request (simulation/engine/request.hpp), measured on this machine.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace espalier::measure {

/// Runs every variant at every size with each number of "ranks_per_node", on these CPUs. Goes "rounds" times
/// (default 5) over all of them, and checks every result. The answer: rows of "variant", "bytes", "nodes"
/// (1), "ranks_per_node", "calls" (timed as a block), "ns" (the median time of a call, until the last rank
/// has finished), "lowest_ns", "highest_ns" (quartiles). Throws Error for invalid requests and for wrong
/// results.
nlohmann::json measure_calls(const nlohmann::json& request, const std::vector<int>& cpus);

}  // namespace espalier::measure
