// How long a flag takes from one core to another, for each pair of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace espalier::measure {

/// Nanoseconds from a store on the one CPU to the load on the other that sees it: half of the least round trip
/// of several batches. Below 0: the CPUs could not be had, or others kept them busy.
double flag_ns(int one, int other);

/// {"cpus": [...], "ns": [[null, 61.5], [61.5, null]]}: of all pairs of `cpus`; of every n-th one, where they
/// are more than `most`. null: not measured. A millisecond or less a pair.
nlohmann::json latencies(std::vector<int> cpus, std::size_t most);

}  // namespace espalier::measure
