#include "runtime/node.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/config.hpp"
#include "base/error.hpp"
#include "memory/handover.hpp"
#include "topology/cpu_budget.hpp"
#include "topology/discover.hpp"

namespace espalier::runtime {
namespace {

constexpr std::size_t affinity_bytes = 1024;
constexpr std::size_t machine_bytes = 512 * 1024;
constexpr int handover_timeout_ms = 60 * 1000;

enum class Transfer : std::int32_t { none, memfd, named };

// What each rank says of itself in the first round. Plain bytes: it crosses the bootstrap.
struct Introduction {
  std::uint64_t host;  // equal for processes that can share memory
  std::uint64_t token;
  std::uint64_t agreement;
  std::int32_t willing;
  std::int32_t pid;
};

// What a node's leader offers in the second.
struct Offer {
  std::uint64_t bytes;
  Transfer transfer;
  char why[108];
};

std::uint64_t hash(std::string_view text, std::uint64_t seed = 14695981039346656037ull) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return seed;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Same kernel, same network name space (abstract sockets are seen only there), same user.
std::uint64_t host_identity() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  struct stat network{};
  stat("/proc/self/ns/net", &network);
  return hash(fmt::format("{} {} {} {}", name, first_line("/proc/sys/kernel/random/boot_id"), network.st_ino, geteuid()));
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(getpid()) << 32 ^ static_cast<std::uint64_t>(time(nullptr));
  return number | 1;  // never 0, which stands for no arena
}

std::string token_text(std::uint64_t token) { return fmt::format("{:016x}", token); }
std::string shm_name(std::uint64_t token) { return "/espalier-" + token_text(token); }

// Address space, not memory: pages are reserved share by share.
std::size_t arena_bytes(int ranks) {
  const std::string& text = Config::instance().text("ESPALIER_SHM");
  if (text != "auto") return parse_bytes(text);
  const std::size_t memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min<std::size_t>((std::size_t{64} << 20) + static_cast<std::size_t>(ranks) * (std::size_t{8} << 20), memory / 8);
}

std::size_t notes_bytes(int ranks) { return machine_bytes + static_cast<std::size_t>(ranks) * affinity_bytes; }

template <class T>
std::vector<T> exchange(const Bootstrap& world, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(world.size));
  world.allgather(&mine, all.data(), sizeof(T));
  return all;
}

}  // namespace

topology::Topology discover_machine() {
  const std::string& synthetic = Config::instance().text("ESPALIER_TOPOLOGY");
  return topology::discover(synthetic.empty() ? topology::Source::this_machine() : topology::Source::synthetic(synthetic));
}

// Rounds: introductions; the leader's offer; did everybody map it? All ranks take part in all rounds, whatever happens.
std::unique_ptr<NodeState> NodeState::meet(const Bootstrap& world, bool willing) {
  std::unique_ptr<NodeState> node(new NodeState);
  const Introduction me = {host_identity(), random_number(), Config::instance().agreement(), willing, getpid()};
  const auto all = exchange(world, me);
  std::vector<int> members;
  for (int r = 0; r < world.size; ++r)
    if (all[static_cast<std::size_t>(r)].host == me.host && all[static_cast<std::size_t>(r)].willing) members.push_back(r);
  const bool member = willing;
  const int leader = member ? members.front() : -1;
  const bool leads = member && leader == world.rank;
  node->size_ = std::max(1, static_cast<int>(members.size()));
  node->rank_ = static_cast<int>(std::find(members.begin(), members.end(), world.rank) - members.begin());

  Offer offer{};
  memory::Handover handover;
  memory::Segment segment;
  std::string why;
  const std::uint64_t token = member ? all[static_cast<std::size_t>(leader)].token : 0;
  const bool use_memfd = Config::instance().flag("ESPALIER_MEMFD");
  if (leads) {
    const std::size_t bytes = arena_bytes(node->size_);
    if (use_memfd) segment = memory::Segment::create_memfd(bytes, why);
    if (segment && handover.listen(token_text(token), why)) {
      offer.transfer = Transfer::memfd;
    } else {
      segment = memory::Segment::create_named(shm_name(token), bytes, why);
      if (segment) offer.transfer = Transfer::named;
    }
    offer.bytes = segment.size();
    // The arena is laid out before anybody can map it.
    const int descriptor = segment.descriptor();
    if (segment) node->arena_ = memory::Arena::found(std::move(segment), notes_bytes(node->size_), why);
    if (!node->arena_) {
      if (offer.transfer == Transfer::named) memory::Segment::unlink(shm_name(token));
      offer.transfer = Transfer::none;
    } else {
      node->tell_machine();
    }
    fmt::format_to_n(offer.why, sizeof offer.why - 1, "{}", why);
    const auto offers = exchange(world, offer);
    if (offer.transfer == Transfer::memfd && !handover.give(descriptor, node->size_ - 1, handover_timeout_ms, why))
      node->arena_.reset();
  } else {
    const auto offers = exchange(world, offer);
    if (member) {
      const Offer& theirs = offers[static_cast<std::size_t>(leader)];
      why = theirs.why;
      if (theirs.transfer == Transfer::memfd) {
        const int descriptor = memory::Handover::take(token_text(token), handover_timeout_ms, why);
        if (descriptor >= 0) segment = memory::Segment::adopt(descriptor, theirs.bytes, why);
      } else if (theirs.transfer == Transfer::named) {
        segment = memory::Segment::open_named(shm_name(token), theirs.bytes, why);
      }
      offer.transfer = theirs.transfer;
      if (segment) node->arena_ = memory::Arena::join(std::move(segment), why);
    }
  }
  if (node->arena_) node->tell_affinity();

  const std::int32_t mapped = node->arena_ != nullptr;
  const auto status = exchange(world, mapped);
  if (leads && offer.transfer == Transfer::named) memory::Segment::unlink(shm_name(token));
  for (const int r : members)
    if (!status[static_cast<std::size_t>(r)]) node->arena_.reset();
  node->id_ = token;
  node->origin_ = offer.transfer == Transfer::memfd ? "memfd" : "shm_open";
  if (node->arena_) node->learn_machine();
  else node->refusal_ = why.empty() ? "the ranks of the node could not all map the arena" : why;
  return node;
}

void NodeState::tell_machine() {
  std::string text;
  try {
    if (size_ > 2) text = topology::print(discover_machine());
  } catch (const Error& error) {
    fmt::print(stderr, "espalier: {}; the machine counts as one domain\n", error.what());
  }
  if (text.size() < machine_bytes) std::memcpy(arena_->notes(), text.c_str(), text.size() + 1);
}

void NodeState::learn_machine() {
  const std::string text = reinterpret_cast<const char*>(arena_->notes());
  if (!text.empty()) {
    machine_ = topology::parse_topology(text);
    return;
  }
  for (int r = 0; r < size_; ++r)
    machine_.machine.cpus |= load_affinity(arena_->notes() + machine_bytes + static_cast<std::size_t>(r) * affinity_bytes, affinity_bytes);
  machine_.source = "the ranks' affinity masks";
}

void NodeState::tell_affinity() {
  store_affinity(arena_->notes() + machine_bytes + static_cast<std::size_t>(rank_) * affinity_bytes, affinity_bytes,
                 topology::current_affinity());
}

double NodeState::ranks_per_core() const {
  std::vector<topology::CpuSet> masks;
  for (int r = 0; r < size_; ++r)
    masks.push_back(load_affinity(arena_->notes() + machine_bytes + static_cast<std::size_t>(r) * affinity_bytes, affinity_bytes));
  const double usable = topology::cpu_budget(machine_, masks).usable();
  return usable > 0 ? size_ / usable : size_;
}

}  // namespace espalier::runtime
