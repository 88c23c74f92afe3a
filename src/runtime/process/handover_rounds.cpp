// Repeats connecting and collecting until all takers have found a place in their giver's queue.
#include "runtime/process/handover_rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "base/format.hpp"

namespace espalier::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Stand = memory::DescriptorTaker::Stand;

/// Other users may keep a queue full, and ranks more than the queue is long need several rounds.
constexpr auto most_time_for_full_queues = std::chrono::seconds(1);

// Plain bytes: it crosses the bootstrap.
struct Report {
  Stand stand;
  std::int32_t time_is_up;  // rank 0's clock counts for all
};

}  // namespace

bool connect(const Bootstrap& bootstrap, const std::vector<int>& members, HandoverSides sides,
             std::string& why) {
  const auto deadline = Clock::now() + most_time_for_full_queues;
  Stand stand = Stand::connected;
  for (;;) {
    if (sides.taker && stand != Stand::refused) stand = sides.taker->connect(why);
    const auto all = exchange(bootstrap, Report{stand, Clock::now() > deadline});
    if (sides.giver) sides.giver->collect();
    const auto is_full = [](const Report& report) { return report.stand == Stand::full; };
    if (std::any_of(all.begin(), all.end(), is_full) && all.front().time_is_up == 0) continue;
    if (stand == Stand::full) why = "the queue of the node's socket stays full of strangers";
    return std::all_of(members.begin(), members.end(), [&](int rank) {
      return all[static_cast<std::size_t>(rank)].stand == Stand::connected;
    });
  }
}

Outcome outcome_of(bool has_memory, const std::string& why) {
  Outcome outcome{has_memory, {}};
  if (!has_memory) why.copy(outcome.why, sizeof outcome.why - 1);
  return outcome;
}

std::string first_failure(const std::vector<Outcome>& all, const std::vector<int>& ranks) {
  bool all_have_memory = true;
  for (const int rank : ranks) {
    const Outcome& outcome = all[static_cast<std::size_t>(rank)];
    const std::string why(outcome.why, strnlen(outcome.why, sizeof outcome.why));
    if (outcome.has_memory == 0 && !why.empty()) return formatted("{} (rank {})", why, rank);
    all_have_memory = all_have_memory && outcome.has_memory != 0;
  }
  return all_have_memory ? "" : "the ranks of a node could not all map the shared memory";
}

int handover_timeout_ms(const Bootstrap& bootstrap) {
  constexpr int most = 60 * 1000;
  return bootstrap.left_ms ? std::min(bootstrap.left_ms(), most) : most;
}

}  // namespace espalier::runtime
