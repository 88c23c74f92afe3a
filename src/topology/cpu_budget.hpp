#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace espalier::topology {

// How many ranks of a node can really run at a time.
struct CpuBudget {
  int cores = 1;  // distinct cores in the ranks' affinity masks
  double quota =
      std::numeric_limits<double>::infinity();  // CPUs' worth of time that the control group allows
  std::string explanation;                      // one sentence for the user

  double usable() const { return quota < cores ? quota : cores; }
};

// The budget of ranks with these masks. CPUs of one core (SMT) count once where the topology knows cores. The
// quota is that of the calling process, read below `root` ("" being the real file system): one process asks
// for its node and tells the others, or they ask by themselves and take the minimum.
CpuBudget cpu_budget(const Topology& topology, std::span<const CpuSet> affinity,
                     const std::string& root = "");

// The cores that have no CPU in `used`, by domains around `near`: those of the innermost one come first. Each set has the
// CPUs of one domain that are in none before it. Whether the process may run there is not known.
std::vector<CpuSet> spare_cpus(const Topology& topology, const CpuSet& used, const CpuSet& near);

}  // namespace espalier::topology
