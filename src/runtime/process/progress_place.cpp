#include "runtime/process/progress_place.hpp"

#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "topology/cpu_budget.hpp"

namespace espalier::runtime {
namespace {

using namespace std::chrono_literals;

/// Threads of several ranks on one core take it from each other while they look.
constexpr auto looks_on_own_core = 200us, looks_on_shared_core = 10us, looks_beside_ranks = 0us;

/// Says how many cores they are.
int move_to_spare_cores(const NodeState& node) {
  topology::CpuSet used;
  for (int rank = 0; rank < node.size(); ++rank) used |= node.affinity_of(rank);
  for (const topology::CpuSet& cpus :
       topology::spare_cpus(node.machine(), used, node.affinity_of(node.rank())))
    if (topology::set_current_affinity(cpus)) return topology::current_affinity().count();
  return 0;
}

}  // namespace

std::chrono::microseconds settle_on_spare_core() {
  const NodeState* node = Process::instance().node();
  const int cores = node && node->arena() ? move_to_spare_cores(*node) : 0;
  if (cores == 0) return looks_beside_ranks;
  return cores < node->size() ? looks_on_shared_core : looks_on_own_core;
}

}  // namespace espalier::runtime
