#include "runtime/process/socket_nodes.hpp"

#include "base/config.hpp"
#include "base/error.hpp"
#include "runtime/process/node.hpp"
#include "topology/cpu_set.hpp"
#include "topology/topology.hpp"

namespace espalier::runtime {
namespace {

/// Numbers the packages below a domain as they come.
int find(const topology::Domain& domain, const topology::CpuSet& mask, int& packages) {
  if (domain.level == topology::Level::package) {
    ++packages;
    return domain.cpus.contains(mask) ? packages : 0;
  }
  for (const topology::Domain& child : domain.children)
    if (const int found = find(child, mask, packages)) return found;
  return 0;
}

}  // namespace

int leading_socket() {
  const Config& config = Config::instance();
  if (!config.flag("ESPALIER_SHARP") || config.text("ESPALIER_SHARP_LEADERS") != "socket") return 0;
  try {
    int packages = 0;
    return find(discover_machine().machine, topology::current_affinity(), packages);
  } catch (const Error&) {
    return 0;  // nothing is known of this machine: its node leads as a whole
  }
}

}  // namespace espalier::runtime
