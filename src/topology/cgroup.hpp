// The limits that Linux control groups set to the calling process.
#pragma once

#include <limits>
#include <string>

namespace espalier::topology {

// How much CPU time the control groups of a process allow it.
struct CpuQuota {
  double cpus = std::numeric_limits<double>::infinity();  // CPU seconds per second
  std::string file;                                       // the one that sets the quota; empty: no quota

  bool limited() const { return !file.empty(); }
};

// The smallest quota of the calling process: over v2's `cpu.max` and v1's `cpu.cfs_quota_us` /
// `cpu.cfs_period_us`, in its control group and every ancestor that is visible. Files are looked up below
// `root`, "" being the real file system. A file that is missing or cannot be read sets no quota and is no
// error.
CpuQuota cgroup_quota(const std::string& root = "");

// Whether the calling process is scheduled in a control group of the controller `cpu` other than the root's.
bool in_cpu_cgroup(const std::string& root = "");

}  // namespace espalier::topology
