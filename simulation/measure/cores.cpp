#include "simulation/measure/cores.hpp"

#include <algorithm>

namespace espalier::measure {

using topology::CpuSet;
using topology::Domain;

namespace {

void collect(const Domain& domain, const CpuSet& allowed, std::vector<int>& cpus) {
  CpuSet own = domain.cpus;
  own &= allowed;
  if (domain.level == topology::Level::core) {
    if (!own.empty()) cpus.push_back(own.first());
    return;
  }
  for (const Domain& child : domain.children) {
    collect(child, allowed, cpus);
    own -= child.cpus;
  }
  for (int cpu = own.first(); cpu >= 0; cpu = own.next(cpu)) cpus.push_back(cpu);
}

const Domain* child_with(const Domain& domain, int cpu) {
  for (const Domain& child : domain.children)
    if (child.cpus.test(cpu)) return &child;
  return nullptr;
}

}  // namespace

std::vector<int> cores_in(const topology::Topology& topology, const CpuSet& allowed) {
  std::vector<int> cpus;
  collect(topology.machine, allowed, cpus);
  return cpus;
}

std::vector<Distance> distances_in(const topology::Topology& topology, const std::vector<int>& cpus) {
  std::vector<Distance> distances;
  if (cpus.empty()) return distances;
  for (const Domain* at = &topology.machine; at; at = child_with(*at, cpus.front())) {
    std::vector<int> here;
    std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(here),
                 [&](int cpu) { return at->cpus.test(cpu); });
    const int count = static_cast<int>(here.size());
    if (count < 2) break;
    if (!distances.empty() && distances.back().cores == count) distances.pop_back();
    distances.push_back({std::string(to_string(at->level)), count, here.front(), here.back()});
  }
  std::reverse(distances.begin(), distances.end());
  return distances;
}

}  // namespace espalier::measure
