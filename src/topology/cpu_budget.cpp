#include "topology/cpu_budget.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "topology/cgroup.hpp"

namespace espalier::topology {

namespace {

// Counts the cores that `cpus` touches and takes their CPUs out of `left`.
int take_cores(const Domain& domain, const CpuSet& cpus, CpuSet& left) {
  if (!domain.cpus.intersects(cpus)) return 0;
  if (domain.level == Level::core) {
    left -= domain.cpus;
    return 1;
  }
  int cores = 0;
  for (const Domain& child : domain.children) cores += take_cores(child, cpus, left);
  return cores;
}

// A domain of unknown cores counts CPU by CPU.
void add_unused_cores(const Domain& domain, const CpuSet& used, CpuSet& unused) {
  if (domain.level == Level::core) {
    if (!domain.cpus.intersects(used)) unused |= domain.cpus;
  } else if (domain.children.empty()) {
    unused |= domain.cpus - used;
  } else {
    for (const Domain& child : domain.children) add_unused_cores(child, used, unused);
  }
}

void add_spare(const Domain& domain, const CpuSet& used, const CpuSet& near, std::vector<CpuSet>& found) {
  for (const Domain& child : domain.children)
    if (child.cpus.contains(near)) add_spare(child, used, near, found);
  CpuSet here;
  add_unused_cores(domain, used, here);
  for (const CpuSet& inside : found) here -= inside;
  if (!here.empty()) found.push_back(here);
}

}  // namespace

CpuBudget cpu_budget(const Topology& topology, std::span<const CpuSet> affinity, const std::string& root) {
  CpuSet cpus;
  for (const CpuSet& mask : affinity) cpus |= mask;
  CpuSet outside = cpus;  // CPUs of no known core count one by one
  CpuBudget budget;
  budget.cores = take_cores(topology.machine, cpus, outside);
  budget.cores = std::max(1, budget.cores + outside.count());
  budget.explanation =
      formatted("{} rank{} may run on {} core{} (CPUs {})", affinity.size(), affinity.size() == 1 ? "" : "s",
                budget.cores, budget.cores == 1 ? "" : "s", cpus.empty() ? "unknown" : cpus.to_string());
  CpuQuota quota = cgroup_quota(root);
  budget.quota = quota.cpus;
  if (quota.limited()) {
    budget.explanation += formatted(" and {} allows {:.4g} CPUs' worth of time{}", quota.file, quota.cpus,
                                    quota.cpus < budget.cores ? ", which is less" : "");
  }
  return budget;
}

std::vector<CpuSet> spare_cpus(const Topology& topology, const CpuSet& used, const CpuSet& near) {
  std::vector<CpuSet> found;
  add_spare(topology.machine, used, near, found);
  return found;
}

}  // namespace espalier::topology
