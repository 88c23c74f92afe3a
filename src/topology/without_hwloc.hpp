// What is read where libhwloc cannot be loaded: this machine by the kernel's files, and plain synthetic
// descriptions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topology/topology.hpp"

namespace espalier::topology {

/// The packages, NUMA nodes, caches and cores of the CPUs that are online, by the kernel's list files below
/// `folder` (Linux, Documentation/ABI/stable/sysfs-devices-system-cpu). Nothing, where the list of the CPUs
/// cannot be read; a level whose files are missing is left out. Reads some ten small files a core.
std::optional<Domain> read_sysfs(const std::string& folder = "/sys/devices/system");

/// The machine of a description in hwloc's notation: levels from the outside in, each with how many there are
/// in one of the level before, as in "package:2 numa:4 l3:4 core:4 pu:1". CPUs are numbered from left to
/// right. Nothing, where the text is not of this form, is too large, or has what only hwloc knows: numbers
/// without a level, indexes and attributes.
std::optional<Domain> read_synthetic(std::string_view text);

}  // namespace espalier::topology
