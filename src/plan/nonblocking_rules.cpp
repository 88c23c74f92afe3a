#include "plan/nonblocking_rules.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include "base/config.hpp"
#include "plan/tuned_rules.hpp"

namespace espalier::plan {
namespace {

struct HostIsFaster {
  std::string_view host;  ///< how its version text begins
  Collective collective;
  int most_ranks;
  std::size_t first, last;  ///< bytes, as Communicator says what they are

  bool is_for(Collective what, std::size_t bytes, int ranks) const {
    return what == collective && bytes >= first && bytes <= last && ranks <= most_ranks;
  }
};

constexpr std::size_t KiB = 1024;
constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max();

/// On 2 to 16 ranks (docs/results/nonblocking.json.xz): scatters of 8 bytes were slower everywhere, those of 4 KiB nowhere;
/// the border between is an estimate. Single points that lie alone have no rule. No v form has one, for its ranks do not
/// know each other's lengths.
constexpr std::array measured = {
    HostIsFaster{"Open MPI", Collective::scatter, 16, 1, 512},
    HostIsFaster{"Open MPI", Collective::allgather, 2, 384 * KiB, no_end},
    HostIsFaster{"Intel(R) MPI", Collective::allgather, 2, 24 * KiB, 768 * KiB},
};

std::vector<HostIsFaster> rules_of(std::string_view host) {
  std::vector<HostIsFaster> all;
  if (Config::instance().text("ESPALIER_NONBLOCKING") == "auto")
    std::copy_if(measured.begin(), measured.end(), std::back_inserter(all),
                 [&](const HostIsFaster& each) { return host.starts_with(each.host); });
  return all;
}

}  // namespace

bool nonblocking_is_off() { return is_off(Config::instance().text("ESPALIER_NONBLOCKING")); }

bool nonblocking_is_hosts(std::string_view host, Collective collective, std::size_t bytes, int ranks) {
  return std::any_of(measured.begin(), measured.end(), [&](const HostIsFaster& each) {
    return host.starts_with(each.host) && each.is_for(collective, bytes, ranks);
  });
}

// Measured on emulated nodes, of one and of two ranks: up to 128 KiB MPICH takes 2 to 26 times as long as Espalier, Open
// MPI and Intel MPI mostly less. Others have not been measured.
bool nonblocking_over_nodes_is_hosts(std::string_view host, Collective collective, std::size_t bytes,
                                     int ranks, int on_node) {
  constexpr int most_letters = 64;
  constexpr std::size_t most_sent = 1024 * KiB, longest = std::size_t{1} << 29;
  const std::size_t letter =
      bytes * static_cast<std::size_t>(collective == Collective::allgather ? on_node : 1);
  if (letter > longest) return true;
  static const bool by_itself = Config::instance().text("ESPALIER_NONBLOCKING") == "auto";
  return by_itself && (!host.starts_with("MPICH") || ranks > most_letters ||
                       letter * static_cast<std::size_t>(ranks) > most_sent);
}

bool nonblocking_is_hosts(Collective collective, std::size_t bytes, int ranks) {
  static const std::vector<HostIsFaster>& ours = *new std::vector<HostIsFaster>(rules_of(known_host()));
  return std::any_of(ours.begin(), ours.end(),
                     [&](const HostIsFaster& each) { return each.is_for(collective, bytes, ranks); });
}

}  // namespace espalier::plan
