// What the processes of one job on one node share: the arena and what they know of the machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/arena.hpp"
#include "memory/share_directory.hpp"
#include "runtime/failure/liveness.hpp"
#include "runtime/process/bootstrap.hpp"
#include "topology/topology.hpp"

namespace espalier::runtime {

class NodeState {
 public:
  /// Collective over `world`, see Process::join. Never returns null; without an arena, arena() is null and
  /// refusal() says why.
  static std::unique_ptr<NodeState> meet(const Bootstrap& world, bool willing);

  memory::Arena* arena() const { return arena_.get(); }
  /// Equal for the processes of the node, unlike any other node's or job's; 0 for one that takes no part.
  std::uint64_t id() const { return id_; }
  /// Equal for the processes that met, unlike any other job's.
  std::uint64_t job() const { return job_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether the job has several nodes, or any of its processes wants messages in any case. The same on all
  /// processes, whatever their settings.
  bool needs_transport() const { return needs_transport_; }
  const std::string& refusal() const { return refusal_; }
  ~NodeState();

  /// Whether each process of the node may read every other's memory: tried with a real transfer in a ring, agreed.
  bool single_copy() const { return single_copy_; }

  /// Whether each process of the node can map the shared heaps of all others (tried in a ring, agreed).
  bool shared_heaps() const { return shared_heaps_; }

  /// This process, for others that ask whether it still runs.
  const ProcessMark& mark() const { return mark_; }

  /// Whether each process of the node sees every other one run, and so would see that one has ended (tried in a
  /// ring, agreed).
  bool sees_processes() const { return sees_processes_; }

  /// Whether a yield makes room for any other process of the node at once: they share one scheduling group of
  /// the kernel (topology/autogroup.hpp).
  bool prompt_yields() const { return prompt_yields_; }

  /// Of a process of the job, its number among those of this node's arena; -1: it is not among them.
  int rank_of(int process) const {
    return static_cast<std::size_t>(process) < ranks_here_.size()
               ? ranks_here_[static_cast<std::size_t>(process)]
               : -1;
  }
  /// Whether all processes of the node have the same settings where these must be equal.
  bool settings_agree() const { return settings_agree_; }
  /// What a process of the node said of itself when it joined. While there is an arena.
  topology::CpuSet affinity_of(int rank) const;
  ProcessMark mark_of(int rank) const;
  /// Where this process keeps its flight record (runtime/flight/record.hpp); null without an arena.
  std::byte* flight_record() const;
  /// Null without an arena.
  memory::ShareDirectory* directory() const { return directory_.get(); }

  /// The machine as the node's first process saw it.
  const topology::Topology& machine() const { return machine_; }
  /// Runnable ranks of this node for each usable core: by the affinity masks of all its processes and the CPU
  /// quota. 1 where the node has no arena: then they do not know each other.
  double ranks_per_core() const;
  /// The same as it was when this process first asked: what it takes to find out is more than a short
  /// communicator's life.
  double known_ranks_per_core() const;

 private:
  NodeState() = default;
  struct RankInfo;
  RankInfo introduce(const Bootstrap& world, bool willing);
  void open_directory(bool leads);
  void tell_machine();
  void learn_machine();
  void tell_affinity();
  void tell_presence();
  struct Sight;
  Sight learn_presences();

  std::unique_ptr<memory::Arena> arena_;
  std::uint64_t id_ = 0;
  std::uint64_t job_ = 0;
  int rank_ = 0;
  int size_ = 1;
  bool needs_transport_ = false;
  bool single_copy_ = false;
  bool shared_heaps_ = false;
  bool prompt_yields_ = true;
  bool sees_processes_ = true;
  ProcessMark mark_{};
  mutable std::atomic<double> known_ranks_per_core_{0};
  std::vector<int> ranks_here_;  ///< by process of the job
  bool settings_agree_ = true;
  std::unique_ptr<memory::ShareDirectory> directory_;
  std::string refusal_;
  topology::Topology machine_;
};

/// The size of the arena of a node with that many ranks (ESPALIER_SHM): address space; pages are reserved
/// share by share.
std::size_t arena_bytes(int ranks);

/// How much of it the ranks take to tell each other once about themselves and the machine.
std::size_t arena_notes_bytes(int ranks);

/// Whether the configuration wants messages instead of shared memory within nodes.
bool by_messages();

/// The topology of ESPALIER_TOPOLOGY or of this machine. Throws espalier::Error.
topology::Topology discover_machine();

/// Affinity masks travel as fixed words: `bytes` of them hold 8 * bytes CPUs; larger CPU numbers are cut off.
void store_affinity(std::byte* note, std::size_t bytes, const topology::CpuSet& cpus);
topology::CpuSet load_affinity(const std::byte* note, std::size_t bytes);

}  // namespace espalier::runtime
