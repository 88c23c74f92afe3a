#include "mpi/lifetime/recorded.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "mpi/host/host.hpp"
#include "runtime/flight/recorder.hpp"

namespace espalier::mpi::communicators {
namespace {

constexpr memory::Identity world_identity = {1, 1};  // what communicators::record_of() calls it, too

// Of a communicator without a name: its ranks make those of the same ranks in the same order.
memory::Identity identity_by_order(const std::vector<int>& processes, int size) {
  static std::mutex& mutex = *new std::mutex;
  static auto& counts = *new std::map<std::uint64_t, std::uint64_t>;
  std::uint64_t ranks = hash(std::to_string(size));
  for (const int process : processes) ranks = hash(std::to_string(process) + ' ', ranks);
  const std::lock_guard lock(mutex);
  return {ranks, ++counts[ranks]};
}

/// Rank r is process first + r * stride; stride 0: it is not.
std::pair<int, int> pattern_of(const std::vector<int>& processes) {
  if (processes.empty()) return {0, 0};
  const int first = processes.front(), stride = processes.size() > 1 ? processes[1] - first : 1;
  for (std::size_t rank = 0; rank < processes.size(); ++rank)
    if (processes[rank] != first + static_cast<int>(rank) * stride) return {0, 0};
  return {first, stride};
}

std::string name_of(MPI_Comm comm) {
  char text[1024];  // more than any host's MPI_MAX_OBJECT_NAME
  int length = 0;
  if (!host.Comm_get_name || host.Comm_get_name(comm, text, &length) != MPI_SUCCESS) return "";
  return {text, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof text)))};
}

}  // namespace

void record(MPI_Comm comm, const memory::Identity& identity,
            const std::optional<std::vector<int>>& processes) {
  runtime::flight::Named named;
  host.Comm_rank(comm, &named.rank);
  host.Comm_size(comm, &named.size);
  const std::vector<int> none;
  const bool is_world = comm == host.constants.world;
  const memory::Identity id = is_world   ? world_identity
                              : identity ? identity
                                         : identity_by_order(processes ? *processes : none, named.size);
  named.handle = wide(comm);
  named.high = id.high;
  named.low = id.low;
  std::tie(named.first, named.stride) =
      is_world ? std::pair(0, 1) : pattern_of(processes ? *processes : none);
  named.name = name_of(comm);
  runtime::flight::add_communicator(named);
}

void record_world() { record(host.constants.world, world_identity, std::nullopt); }

void forget_recorded(MPI_Comm comm) { runtime::flight::forget_communicator(wide(comm)); }

}  // namespace espalier::mpi::communicators
