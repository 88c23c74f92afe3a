// What ran, how often, how long and why: the statistics of ESPALIER_STATS.
#pragma once

#include "runtime/process/bootstrap.hpp"
#include "runtime/statistics/counters_file.hpp"

namespace espalier::runtime::statistics {

/// True when ESPALIER_STATS asks for statistics.
bool asked_for() noexcept;

/// The same, asked once: a part of every call.
inline bool enabled() noexcept {
  static const bool on = asked_for();
  return on;
}

/// This process is rank author.rank of the job: from now on what it counts is kept for the case that the job
/// does not reach report(): in a file beside the one that ESPALIER_STATS names (counters_file.hpp), or
/// printed (abnormal_end.hpp). Local; nothing when statistics are off.
void begin(const Author& author);

/// Collective over the job, at finalize: gathers the counters; rank 0 prints them or writes the JSON file.
/// Nothing else is left of what begin() made.
void report(const Bootstrap& world, const Author& author);

/// The process is about to end without report(); `how`, as in "was called".
void end_early(const char* how);

}  // namespace espalier::runtime::statistics
