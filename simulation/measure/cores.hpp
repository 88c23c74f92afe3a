// The cores of this machine, as a model's levels see them.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace espalier::measure {

/// One CPU of each core that may be used, ordered so that the CPUs of a domain are consecutive.
std::vector<int> cores_in(const topology::Topology& topology, const topology::CpuSet& allowed);

/// A domain that has more cores than any domain within it, and two CPUs of which no smaller domain has both.
struct Distance {
  std::string level;  ///< of the innermost, where several domains have the same cores
  int cores;          ///< how many of `cpus` it has
  int one, other;
};

/// From the innermost out, around the first of `cpus`; empty for one core.
std::vector<Distance> distances_in(const topology::Topology& topology, const std::vector<int>& cpus);

}  // namespace espalier::measure
