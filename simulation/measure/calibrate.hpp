// What flags, copies, folds and wake-ups cost on this machine: the "node" and "simulate" of a model file.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "simulation/measure/cores.hpp"

namespace espalier::measure {

/// Measures for about five seconds, on cores that should have nothing else to do. Each number is what the
/// simulated machine takes it for, measured as the algorithms use it:
///
///  - line_ns: half of a there and back of two ranks on flag lines, by the waits of programs;
///  - own_copy_ns_per_byte: from the own buffer into a slot that another core has read, copy_ns_per_byte: out
///  of
///    a slot that another core has written; both the slope between 4 and 32 KiB;
///  - reduce_ns_per_byte: what a fold of the own vector and of another's slot takes beyond the copy, by
///  source;
///  - reader_gap_ns: until the last of several readers of one line has it; of two cores it cannot be told;
///  - controller_ns_per_byte: all cores copy out of each other's slots at once;
///  - wake_ns: half of a there and back of two ranks on one core, less the line.
///
/// Returns {"node", "simulate", "origin"}. Throws Error for fewer than two cores.
nlohmann::json calibrate(const std::vector<int>& cpus, const std::vector<Distance>& distances);

}  // namespace espalier::measure
