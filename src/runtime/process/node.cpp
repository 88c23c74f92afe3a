#include "runtime/process/node.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/hash.hpp"
#include "base/token.hpp"
#include "machine/layout.hpp"
#include "memory/copy/streaming_copy.hpp"
#include "memory/heap/peer_heaps.hpp"
#include "memory/heap/shared_heap.hpp"
#include "memory/read_refusals.hpp"
#include "plan/tuned_rules.hpp"
#include "runtime/flight/record.hpp"
#include "runtime/process/arena_founding.hpp"
#include "runtime/process/emulated_nodes.hpp"
#include "runtime/process/single_copy_probe.hpp"
#include "runtime/process/socket_nodes.hpp"
#include "runtime/progress/progress_thread.hpp"
#include "topology/autogroup.hpp"
#include "topology/cpu_budget.hpp"
#include "topology/discover.hpp"

namespace espalier::runtime {

// What a process may do to the next one of the ring (learn_presences): read its memory through the kernel, map
// its heap, see it run, and make room for it by a yield.
struct NodeState::Sight {
  std::int32_t reads = 0, maps = 0, sees = 0, yields = 0;
};

namespace {

constexpr std::size_t affinity_bytes = 1024;
constexpr std::size_t machine_bytes = 512 * 1024;

// What each rank says of itself in the first round. Plain bytes: it crosses the bootstrap.
struct Introduction {
  std::uint64_t host;  // equal for processes that can share memory
  std::uint64_t token;
  std::uint64_t settings;  // hash of those that must be equal
  std::int32_t willing;
  std::int32_t by_messages;
};

std::string first_line(const char* path) {
  const std::string text = text_of(path);
  return text.substr(0, text.find('\n'));
}

// Same kernel, same network name space (abstract sockets are seen only there), same user; and the same node,
// where nodes are pretended, or sockets stand for nodes.
std::uint64_t host_identity(const Bootstrap& world) {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  struct stat network{};
  stat("/proc/self/ns/net", &network);
  int pretended = 0;
  try {
    pretended = pretended_node(Config::instance().text("ESPALIER_NODES"), world.rank, world.size);
  } catch (const Error& error) {
    if (world.rank == 0) print_to(stderr, "espalier: {}; the nodes are the real ones\n", error.what());
  }
  return hash(formatted("{} {} {} {} {} {}", name, first_line("/proc/sys/kernel/random/boot_id"),
                        network.st_ino, geteuid(), pretended, leading_socket()));
}

// What a process leaves in the arena about itself.
struct Presence {
  MemoryProbe probe;
  memory::HeapNotice heap;
  std::uint64_t autogroup;  // hash of its name
  ProcessMark mark;
};

// Notes = [machine][affinity mask of process 0][1]...[presence of process 0][1]...[refusals of reads][shares], and
// on pages of their own [flight record of process 0][1]... All are whole pages, so that the notes begin on one.
std::size_t presences_offset(int ranks) {
  return machine_bytes + static_cast<std::size_t>(ranks) * affinity_bytes;
}
// On a line of its own: all look there in calls with long buffers.
std::size_t refusals_offset(int ranks) {
  const std::size_t presences = static_cast<std::size_t>(ranks) * sizeof(Presence);
  return machine::Layout::round_up(presences_offset(ranks) + presences, sizeof(memory::FlagLine));
}
std::size_t directory_offset(int ranks) { return refusals_offset(ranks) + sizeof(memory::FlagLine); }
std::size_t flight_offset(int ranks) {
  return machine::Layout::round_up(directory_offset(ranks) + memory::ShareDirectory::bytes(),
                                   machine::Layout::page);
}
std::size_t notes_bytes(int ranks) {
  return flight_offset(ranks) + static_cast<std::size_t>(ranks) * flight::record_bytes;
}

// Whether a process maps the heap of the next one that has any.
bool maps_next_heap(const Presence* all, int rank, int size) {
  for (int step = 1; step < size; ++step) {
    const Presence& other = all[(rank + step) % size];
    if (other.heap.exists)
      return memory::peer_heaps::can_map(static_cast<pid_t>(other.probe.process), other.heap);
  }
  return true;
}

// Before the node's first copy into a slot.
void choose_streaming() {
  const Config& config = Config::instance();
  if (config.text("ESPALIER_STREAMING") != "auto")
    memory::choose_streaming(config.flag("ESPALIER_STREAMING"));
}

}  // namespace

std::size_t arena_bytes(int ranks) {
  const std::string& text = Config::instance().text("ESPALIER_SHM");
  if (text != "auto") return parse_bytes(text);
  const std::size_t memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min<std::size_t>(
      (std::size_t{256} << 20) + static_cast<std::size_t>(ranks) * (std::size_t{8} << 20), memory / 8);
}

std::size_t arena_notes_bytes(int ranks) { return notes_bytes(ranks); }

bool by_messages() { return Config::instance().text("ESPALIER_NODE_STAGE") == "p2p"; }

topology::Topology discover_machine() {
  const std::string& synthetic = Config::instance().text("ESPALIER_TOPOLOGY");
  return topology::discover(synthetic.empty() ? topology::Source::this_machine()
                                              : topology::Source::synthetic(synthetic));
}

// Round 1: who can share memory with whom.
struct NodeState::RankInfo {
  std::vector<int>
      members;              // ranks of the world that meet in this rank's arena; empty when this one declines
  std::uint64_t token = 0;  // the leader's
  bool leads = false;
};

NodeState::RankInfo NodeState::introduce(const Bootstrap& world, bool willing) {
  const Introduction me = {host_identity(world), random_token(), plan::agreement(), willing, by_messages()};
  const auto all = exchange(world, me);
  RankInfo rank_info;
  for (const Introduction& other : all)
    needs_transport_ |= other.host != all.front().host || other.by_messages != 0;
  job_ = all.front().token;
  ranks_here_.assign(all.size(), -1);
  for (int r = 0; willing && r < world.size; ++r) {
    const Introduction& other = all[static_cast<std::size_t>(r)];
    if (other.host != me.host || !other.willing) continue;
    ranks_here_[static_cast<std::size_t>(r)] = static_cast<int>(rank_info.members.size());
    rank_info.members.push_back(r);
    settings_agree_ &= other.settings == me.settings;
  }
  if (rank_info.members.empty()) return rank_info;
  const auto here = std::find(rank_info.members.begin(), rank_info.members.end(), world.rank);
  rank_ = static_cast<int>(here - rank_info.members.begin());
  size_ = static_cast<int>(rank_info.members.size());
  rank_info.leads = rank_ == 0;
  rank_info.token = all[static_cast<std::size_t>(rank_info.members.front())].token;
  return rank_info;
}

// By the leader before any other process looks there: they do when all have agreed on the arena.
void NodeState::open_directory(bool leads) {
  const machine::Layout any;  // all registrations have the same place
  directory_ = std::make_unique<memory::ShareDirectory>(*arena_, arena_->notes() + directory_offset(size_),
                                                        any.registration());
  if (leads) directory_->found();
}

// Rounds: introductions; those in which the arena is founded; can every rank read the next one? All ranks take
// part in all rounds, whatever happens.
std::unique_ptr<NodeState> NodeState::meet(const Bootstrap& world, bool willing) {
  choose_streaming();
  std::unique_ptr<NodeState> node(new NodeState);
  node->mark_ = own_mark();
  const RankInfo rank_info = node->introduce(world, willing);
  ArenaFounding founding(world, rank_info.members, rank_info.token);
  node->arena_ = founding.obtain(arena_bytes(node->size_), notes_bytes(node->size_));
  if (node->arena_) {
    node->open_directory(rank_info.leads);
    if (rank_info.leads) node->tell_machine();
    node->tell_affinity();
    node->tell_presence();
  }
  founding.agree(node->arena_, node->refusal_);
  if (!node->arena_) node->directory_.reset();
  const auto sights = exchange(world, node->arena_ ? node->learn_presences() : Sight{});
  node->single_copy_ = node->shared_heaps_ = node->arena_ != nullptr;
  for (const int r : rank_info.members) {
    const Sight& sight = sights[static_cast<std::size_t>(r)];
    node->single_copy_ &= sight.reads != 0;
    node->shared_heaps_ &= sight.maps != 0;
    node->sees_processes_ &= sight.sees != 0;
    node->prompt_yields_ &= !node->arena_ || sight.yields != 0;
  }
  node->id_ = rank_info.token;
  if (node->arena_) {
    memory::read_refusals::share(
        reinterpret_cast<std::atomic<std::uint32_t>*>(node->arena_->notes() + refusals_offset(node->size_)));
    node->learn_machine();
  }
  return node;
}

NodeState::~NodeState() {
  memory::read_refusals::share(nullptr);
  memory::peer_heaps::forget();
}

std::byte* NodeState::flight_record() const {
  if (!arena_) return nullptr;
  return arena_->notes() + flight_offset(size_) + static_cast<std::size_t>(rank_) * flight::record_bytes;
}

// The trees of two ranks are one; what they leave of the machine only the progress thread asks.
void NodeState::tell_machine() {
  std::string text;
  try {
    if (size_ > 2 || ProgressThread::is_wanted()) text = topology::print(discover_machine());
  } catch (const Error& error) {
    print_to(stderr, "espalier: {}; the machine counts as one domain\n", error.what());
  }
  if (text.size() < machine_bytes) std::memcpy(arena_->notes(), text.c_str(), text.size() + 1);
}

void NodeState::learn_machine() {
  const auto* told = reinterpret_cast<const char*>(arena_->notes());
  const std::string text(told, strnlen(told, machine_bytes));
  if (!text.empty()) {
    machine_ = topology::parse_topology(text);
    return;
  }
  for (int r = 0; r < size_; ++r)
    machine_.machine.cpus |= load_affinity(
        arena_->notes() + machine_bytes + static_cast<std::size_t>(r) * affinity_bytes, affinity_bytes);
  machine_.source = "the ranks' affinity masks";
}

void NodeState::tell_affinity() {
  store_affinity(arena_->notes() + machine_bytes + static_cast<std::size_t>(rank_) * affinity_bytes,
                 affinity_bytes, topology::current_affinity());
}

void NodeState::tell_presence() {
  const Presence mine = {own_probe(random_token()), memory::SharedHeap::notice(), hash(topology::autogroup()),
                         mark_};
  std::memcpy(arena_->notes() + presences_offset(size_) + static_cast<std::size_t>(rank_) * sizeof mine,
              &mine, sizeof mine);
}

// Each process tries the next one only, in a ring, and all agree on what was refused: to try each on each would
// take some system calls for each pair. What a process may do to another follows from what the two are: user,
// whether it can be dumped, scope of ptrace, name spaces. A ring tries each process once as the one that looks
// and once as the one that is looked at, and it leaves and enters each class of equal ones. A read that is
// refused all the same sends its call on another way (docs/memory.md, "Reads that are refused later").
NodeState::Sight NodeState::learn_presences() {
  const auto* all = reinterpret_cast<const Presence*>(arena_->notes() + presences_offset(size_));
  const Presence& next = all[(rank_ + 1) % size_];
  Sight sight;
  sight.reads = Config::instance().flag("ESPALIER_SINGLE_COPY") && reads_memory_of(next.probe);
  sight.sees = liveness_of(next.mark) == Liveness::runs;
  sight.yields = all[rank_].autogroup == next.autogroup;
  sight.maps = maps_next_heap(all, rank_, size_);
  memory::peer_heaps::look_up_in([all, size = size_](pid_t process) -> const memory::HeapNotice* {
    for (int r = 0; r < size; ++r)
      if (all[r].probe.process == process) return &all[r].heap;
    return nullptr;
  });
  return sight;
}

topology::CpuSet NodeState::affinity_of(int rank) const {
  return load_affinity(arena_->notes() + machine_bytes + static_cast<std::size_t>(rank) * affinity_bytes,
                       affinity_bytes);
}

ProcessMark NodeState::mark_of(int rank) const {
  Presence theirs;
  std::memcpy(&theirs,
              arena_->notes() + presences_offset(size_) + static_cast<std::size_t>(rank) * sizeof theirs,
              sizeof theirs);
  return theirs.mark;
}

double NodeState::known_ranks_per_core() const {
  // relaxed: all threads that ask at the same time find the same.
  if (known_ranks_per_core_.load(std::memory_order_relaxed) == 0)
    known_ranks_per_core_.store(ranks_per_core(), std::memory_order_relaxed);
  return known_ranks_per_core_.load(std::memory_order_relaxed);
}

double NodeState::ranks_per_core() const {
  if (!arena_) return 1;  // the ranks could not tell each other where they may run
  std::vector<topology::CpuSet> masks;
  masks.reserve(static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r) masks.push_back(affinity_of(r));
  const double usable = topology::cpu_budget(machine_, masks).usable();
  return usable > 0 ? size_ / usable : size_;
}

}  // namespace espalier::runtime
