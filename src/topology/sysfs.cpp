// Reads the machine's domains from the kernel's files in /sys.
#include <initializer_list>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "topology/without_hwloc.hpp"

namespace espalier::topology {
namespace {

/// What the kernel lists in a file; the empty set where there is no such file, or no list in it.
CpuSet list_in(const std::string& path) {
  try {
    return CpuSet::parse(text_of(path));
  } catch (const Error&) {
    return {};
  }
}

class SysfsReader {
 public:
  SysfsReader(const std::string& folder, CpuSet online) : folder_(folder), online_(std::move(online)) {}

  Domain machine() {
    for (int cpu = online_.first(); cpu >= 0; cpu = online_.next(cpu)) {
      const std::string here = formatted("{}/cpu/cpu{}", folder_, cpu);
      // Kernels before 5.2 know the second name alone.
      add(Level::package, cpu, {here + "/topology/package_cpus_list", here + "/topology/core_siblings_list"});
      add(Level::core, cpu, {here + "/topology/core_cpus_list", here + "/topology/thread_siblings_list"});
      add_caches(cpu, here + "/cache/index");
    }
    add_numa_nodes();
    return nest(online_, std::move(pieces_));
  }

 private:
  // Threads of a core and cores of a cache name the same set: it is read once, by its first CPU.
  void add(Level level, int cpu, std::initializer_list<std::string> paths) {
    CpuSet& known = known_[static_cast<std::size_t>(level)];
    if (known.test(cpu)) return;
    for (const std::string& path : paths) {
      CpuSet cpus = list_in(path) & online_;
      if (!cpus.test(cpu)) continue;
      known |= cpus;
      pieces_.push_back({level, std::move(cpus), {}});
      return;
    }
  }

  void add_caches(int cpu, const std::string& index) {
    if (known_[static_cast<std::size_t>(Level::l2)].test(cpu) &&
        known_[static_cast<std::size_t>(Level::l3)].test(cpu))
      return;
    for (int i = 0;; ++i) {
      const std::string cache = formatted("{}{}", index, i);
      const std::string level = text_of(cache + "/level");
      if (level.empty()) return;
      if (text_of(cache + "/type") == "Instruction\n") continue;
      if (level == "2\n") add(Level::l2, cpu, {cache + "/shared_cpu_list"});
      if (level == "3\n") add(Level::l3, cpu, {cache + "/shared_cpu_list"});
    }
  }

  void add_numa_nodes() {
    const CpuSet nodes = list_in(folder_ + "/node/online");  // of the same form
    for (int node = nodes.first(); node >= 0; node = nodes.next(node))
      pieces_.push_back(
          {Level::numa, list_in(formatted("{}/node/node{}/cpulist", folder_, node)) & online_, {}});
    // A kernel without NUMA has one memory, as hwloc counts it.
    if (nodes.empty()) pieces_.push_back({Level::numa, online_, {}});
  }

  const std::string& folder_;
  const CpuSet online_;
  std::array<CpuSet, level_count> known_;
  std::vector<Domain> pieces_;
};

}  // namespace

std::optional<Domain> read_sysfs(const std::string& folder) {
  CpuSet online = list_in(folder + "/cpu/online");
  if (online.empty()) return std::nullopt;
  return SysfsReader(folder, std::move(online)).machine();
}

}  // namespace espalier::topology
