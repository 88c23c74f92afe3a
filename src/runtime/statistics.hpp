// What ran, how often, how long and why: the statistics of ESPALIER_STATS.
#pragma once

#include <cstddef>
#include <string>

#include "base/collective.hpp"
#include "runtime/bootstrap.hpp"

namespace espalier::runtime::statistics {

/// True when ESPALIER_STATS asks for statistics.
bool asked_for() noexcept;

/// The same, asked once: a part of every call.
inline bool enabled() noexcept {
  static const bool on = asked_for();
  return on;
}

/// A call of a communicator of that many ranks that went to the host, and why ("spans nodes or jobs").
/// Thread-safe; does nothing when statistics are off.
void record_host(Collective collective, std::size_t bytes, int communicator_size, const std::string& why);

/// Collective over the job, at finalize: gathers the counters; rank 0 prints them or writes the JSON file.
/// `host` is the host MPI's own version line, `build` is mpich, ompi or abi.
void report(const Bootstrap& world, const std::string& host, const std::string& build);

}  // namespace espalier::runtime::statistics
