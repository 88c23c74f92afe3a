// The cores of this machine, as a model's levels see them.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace espalier::measure {

/// One CPU of each core that may be used, in such an order that those of a domain follow on each other.
std::vector<int> cores_in(const topology::Topology& topology, const topology::CpuSet& allowed);

/// A domain with more cores than those within it, and two CPUs that no smaller domain holds both of.
struct Distance {
  std::string level;  ///< of several domains with the same cores the innermost
  int cores;          ///< of `cpus` in it
  int one, other;
};

/// From the innermost out, around the first of `cpus`; empty for one core.
std::vector<Distance> distances_in(const topology::Topology& topology, const std::vector<int>& cpus);

}  // namespace espalier::measure
