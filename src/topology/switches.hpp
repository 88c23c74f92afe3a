// Which switches lead to a node, from the outermost in.
#pragma once

#include <string>
#include <string_view>

namespace espalier::topology {

/// The switches above `node` by a description of the network, as "core.leaf1"; empty when the node is not in
/// it. Each line names a switch and what hangs on it, nodes or switches; # begins a comment:
///
///     leaf1: n0 n1
///     leaf2: n2 n3
///     core: leaf1 leaf2
///
/// Throws Error with `file` and line for a line of another form, for what hangs on two switches, and for
/// circles.
std::string switches_above(std::string_view node, std::string_view description, const std::string& file);

/// The same out of what Slurm's topology plugin tells each task: SLURM_TOPOLOGY_ADDR, "core.leaf1.n0", and
/// SLURM_TOPOLOGY_ADDR_PATTERN, "switch.switch.node". Empty without switches.
std::string switches_of_slurm(std::string_view address, std::string_view pattern);

/// What this process knows of the switches above its node: by `file` (ESPALIER_SWITCHES) if there is one,
/// else by Slurm's environment, else nothing. Throws Error for a file that cannot be read.
std::string switches_above_here(const std::string& file);

}  // namespace espalier::topology
