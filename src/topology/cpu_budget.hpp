#pragma once

#include <limits>
#include <span>
#include <string>

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

}  // namespace espalier::topology
