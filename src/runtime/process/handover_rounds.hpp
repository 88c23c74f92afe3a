// How the ranks of each node connect to the one that gives them shared memory, together over a bootstrap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/copy/handover.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// What one rank does in the rounds; both null: it takes no part, but still calls connect().
struct HandoverSides {
  memory::DescriptorGiver* giver = nullptr;  ///< listens already
  memory::DescriptorTaker* taker = nullptr;
};

/// Collective over all ranks of the bootstrap: one round, or some more where a queue is full. No rank waits
/// for another but in the bootstrap. `members`: the ranks of this rank's node, with it. Returns true on all of
/// them when each taker is connected; `why` is set where this rank itself could not.
bool connect(const Bootstrap& bootstrap, const std::vector<int>& members, HandoverSides sides,
             std::string& why);

/// How one rank fared, for the others. Plain bytes: it crosses the bootstrap.
struct Outcome {
  std::int32_t has_memory;
  char why[252];  ///< empty too where another rank's failure is the cause
};
Outcome outcome_of(bool has_memory, const std::string& why);

/// The reason of the first of `ranks` that gives one, with its number; empty: all of them have memory.
std::string first_failure(const std::vector<Outcome>& all, const std::vector<int>& ranks);

/// How long a taker waits for a giver that neither gives nor ends.
int handover_timeout_ms(const Bootstrap& bootstrap);

}  // namespace espalier::runtime
