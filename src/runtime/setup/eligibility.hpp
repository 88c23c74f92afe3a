// The first round of an agreement: where every rank stands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/layout.hpp"
#include "memory/arena.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

struct NodeShare;

/// Plain bytes: it crosses the bootstrap.
struct Eligibility {
  std::uint64_t node;          // 0: takes no part
  std::uint64_t job;           // whose transport and numbers these are
  std::uint64_t agreement;     // hash of the configuration that must be equal
  std::uint64_t share;         // rank 0's offer, 0: the budget is spent
  double ranks_per_core;       // rank 0's reading
  std::int32_t slots;          // of each rank's ring there
  std::int32_t many_pairwise;  // whether it has cells for more than two ranks
  std::int32_t process;        // number in the job
  std::int32_t shares_memory;
  std::int32_t has_transport;
  std::int32_t declined;
  std::int32_t joined;
  std::int32_t joining;  // another thread of the process is about to join
};

/// Rank 0 offers a share of its node's arena for all, which is right if they are all there.
std::vector<Eligibility> exchange_eligibility(const Bootstrap& bootstrap);
/// How all ranks lie in that share.
machine::Layout offered_layout(const std::vector<Eligibility>& all);

/// Why this communicator is the host's, wherever its ranks are; empty when it is not.
std::string refusal_of(const std::vector<Eligibility>& all);
bool on_one_node(const std::vector<Eligibility>& all);
bool share_memory(const std::vector<Eligibility>& all);

/// Backs this rank's part of a share with memory from its own NUMA domain, unless the layout is compact and
/// the caller has backed it, clears its lines and leaves its affinity mask and process id. False when there is
/// no memory left.
bool prepare(const memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank);

/// What of this process's node is of interest to a communicator, without the share.
NodeShare facts_of_node(double ranks_per_core, const machine::Layout& layout);

}  // namespace espalier::runtime
