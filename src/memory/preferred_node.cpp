#include "memory/preferred_node.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>

namespace espalier::memory {
namespace {

// The names are in <linux/mempolicy.h>, which not all machines have.
constexpr int policy_default = 0, policy_preferred = 1;
constexpr int most_nodes = 64;  // of one word

bool exists(const char* format, int first, int second = 0) {
  char path[96];
  std::snprintf(path, sizeof path, format, first, second);
  return access(path, F_OK) == 0;
}

bool has_default_policy() {
  int policy = policy_default;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL) == 0 && policy == policy_default;
}

int look_up_node(int cpu) {
  for (int node = 0; node < most_nodes; ++node)
    if (exists("/sys/devices/system/cpu/cpu%d/node%d", cpu, node)) return node;
  return -1;
}

}  // namespace

int numa_node_of(int cpu) {
  static const bool one_node = !exists("/sys/devices/system/node/node%d", 1);
  if (one_node || cpu < 0) return -1;
  // Groups of ranks ask for each processor of each rank. relaxed: all threads find the same.
  static std::array<std::atomic<int>, 4096> known{};  // the node + 1; 0: not looked for yet
  if (static_cast<std::size_t>(cpu) >= known.size()) return look_up_node(cpu);
  std::atomic<int>& node = known[static_cast<std::size_t>(cpu)];
  if (node.load(std::memory_order_relaxed) == 0) node.store(look_up_node(cpu) + 1, std::memory_order_relaxed);
  return node.load(std::memory_order_relaxed) - 1;
}

PreferredNode::PreferredNode(int node) {
  if (node < 0 || node >= most_nodes || !has_default_policy()) return;
  const unsigned long mask = 1UL << node;
  is_set_ =
      syscall(SYS_set_mempolicy, policy_preferred, &mask, static_cast<unsigned long>(most_nodes) + 1) == 0;
}

PreferredNode::~PreferredNode() {
  if (is_set_) syscall(SYS_set_mempolicy, policy_default, nullptr, 0UL);
}

}  // namespace espalier::memory
