#include "plan/nonblocking_rules.hpp"

#include "base/config.hpp"
#include "plan/tuned_rules.hpp"

namespace espalier::plan {
namespace {

constexpr std::size_t KiB = 1024;

/// Whether the bytes by which rules choose are all that a rank sends, to all others together.
bool is_shared_out(Collective collective) {
  using enum Collective;
  return collective == alltoall || collective == reduce_scatter || collective == reduce_scatter_block;
}

// Over nodes.
constexpr int most_ranks_over_nodes = 8, most_ranks_of_unknown_length = 4;
constexpr std::size_t most_letters = 20;
constexpr std::size_t longest_letter = std::size_t{1} << 29;

/// What a rank sends, to all others together.
std::size_t most_sent(const OverNodes& over_nodes) {
  if (over_nodes.ranks > 4) return 64 * KiB;
  if (over_nodes.by_user) return 128 * KiB;
  return over_nodes.ranks > 2 ? 512 * KiB : 1024 * KiB;
}

/// How many messages all ranks send in a call, at most.
std::size_t letters_of_call(Collective collective, const OverNodes& over_nodes) {
  const auto ranks = static_cast<std::size_t>(over_nodes.ranks);
  if (traits(collective).has_root) return ranks - 1;
  if (over_nodes.by_nodes) return (static_cast<std::size_t>(over_nodes.nodes) - 1) * ranks;
  return traits(collective).is_scan ? ranks * (ranks - 1) / 2 : ranks * (ranks - 1);
}

/// Calls with the neighbours of a topology.
bool is_of_neighbours(Collective collective) {
  return traits(collective).in_pieces && collective != Collective::alltoallw;
}

bool is_of_unknown_length(Collective collective) {
  return !has_length(collective) && collective != Collective::barrier;
}

/// Whether rules choose between Espalier and the host, and not the user.
bool rules_choose() {
  static const bool is_auto = Config::instance().text("ESPALIER_NONBLOCKING") == "auto";
  return is_auto;
}

std::size_t letter_bytes(Collective collective, std::size_t bytes, const OverNodes& over_nodes) {
  const bool of_all_on_node = over_nodes.by_nodes && collective == Collective::allgather;
  return of_all_on_node ? bytes * static_cast<std::size_t>(over_nodes.on_node) : bytes;
}

std::size_t sent_bytes(Collective collective, std::size_t bytes, const OverNodes& over_nodes) {
  const std::size_t letter = letter_bytes(collective, bytes, over_nodes);
  return is_shared_out(collective) ? letter : letter * static_cast<std::size_t>(over_nodes.ranks);
}

}  // namespace

bool nonblocking_is_off() {
  static const bool is_off_by_user = is_off(Config::instance().text("ESPALIER_NONBLOCKING"));
  return is_off_by_user;
}

// What Espalier takes by itself was at least as fast as MPICH's on emulated nodes, of two ranks to eight on two cores
// (docs/nonblocking.md). Under Open MPI and Intel MPI the hosts' calls were mostly the faster ones; others have not been
// measured.
bool nonblocking_over_nodes_is_hosts(std::string_view host, Collective collective, std::size_t bytes,
                                     const OverNodes& over_nodes) {
  if (letter_bytes(collective, bytes, over_nodes) > longest_letter) return true;
  if (!rules_choose()) return false;
  if (nonblocking_over_nodes_is_always_hosts(host, over_nodes.ranks)) return true;
  if (letters_of_call(collective, over_nodes) > most_letters) return true;
  if (is_of_unknown_length(collective))
    return is_of_neighbours(collective) || over_nodes.ranks > most_ranks_of_unknown_length;
  return sent_bytes(collective, bytes, over_nodes) > most_sent(over_nodes);
}

bool nonblocking_over_nodes_is_always_hosts(std::string_view host, int ranks) {
  return rules_choose() && (!host.starts_with("MPICH") || ranks > most_ranks_over_nodes);
}

}  // namespace espalier::plan
