// `espalier simulate` asks in JSON, and is answered in JSON.
#pragma once

#include <string>
#include <string_view>

namespace espalier::simulation {

/// Runs what a request asks for:
///
///     {"model": "file.json", "collective": "allreduce", "bytes": [16], "nodes": [4, 16], "ranks_per_node":
///     [1, 2],
///      "seed": 1, "runs": 1, "calls": 1, "spread": false, "timeline": false,
///      "slots": 8, "slot_bytes": 32768,                                      a variant may have its own
///      "noise": {"rate_hz", "duration_ns", "skew_ns"},                       in place of the model's
///      "variants": [{"name": "host", "node": {rule}, "network": {rule}, "aggregated": false}]}
///
/// A rule is written as in a rules table (plan/rules.hpp); what is not there is looked up in the rules in
/// force. The answer: {"model": name, "file", "rows": [{"variant", "bytes", "nodes", "ranks_per_node", "ns"
/// (the median of the runs, of a call, until the last rank is through), "mean_ns" (over the ranks),
/// "lowest_ns", "highest_ns", "programs", "node", "network", "seconds"}], "timeline": [{"variant", "rank",
/// "begin_ns", "end_ns", "act"}]}, or
/// {"error": text}. Never throws.
std::string answer(std::string_view text);

}  // namespace espalier::simulation
