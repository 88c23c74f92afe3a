#include "topology/autogroup.hpp"

#include <sstream>

#include "base/files.hpp"
#include "topology/cgroup.hpp"

namespace espalier::topology {

std::string autogroup(const std::string& root) {
  int enabled = 0;
  std::istringstream(text_of(root + "/proc/sys/kernel/sched_autogroup_enabled")) >> enabled;
  if (enabled == 0 || in_cpu_cgroup(root)) return "";
  std::string name;  // "/autogroup-123 nice 0"
  std::istringstream(text_of(root + "/proc/self/autogroup")) >> name;
  return name;
}

}  // namespace espalier::topology
