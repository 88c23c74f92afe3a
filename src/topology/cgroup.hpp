#pragma once

#include <limits>
#include <string>

namespace espalier::topology {

// How much CPU time the control groups of a process allow it.
struct CpuQuota {
  double cpus = std::numeric_limits<double>::infinity();  // CPU seconds per second
  std::string file;                                       // that sets it; empty without a quota

  bool limited() const { return !file.empty(); }
};

// The tightest quota of the calling process: over v2's `cpu.max` and v1's `cpu.cfs_quota_us` /
// `cpu.cfs_period_us`, in its control group and every ancestor that is visible. Files are looked up below
// `root`, "" being the real file system. What is missing or cannot be read sets no quota; never throws for
// want of a file.
CpuQuota cgroup_quota(const std::string& root = "");

// Whether the calling process is scheduled in a control group of the controller `cpu` other than the root's.
bool in_cpu_cgroup(const std::string& root = "");

}  // namespace espalier::topology
