// Where in the program calls came from: counted by return addresses, on request (ESPALIER_STATS_SITES).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "runtime/statistics/counters.hpp"

namespace espalier::runtime::statistics::sites {

inline constexpr int most_frames = 8;
inline constexpr std::size_t most_sites = 4096;  ///< of a process; the rest are counted together

/// How many frames of the program are kept of a call; 0: none, nothing is counted here. Read in each call
/// that is counted; set by begin().
extern int frames;
void begin();

/// Counts a call of that row, which the thread is still in: walks its stack up to the first frames outside of
/// Espalier and the host MPI. Thread-safe. A microsecond or more.
void count(const Row& row, std::uint64_t ticks);

}  // namespace espalier::runtime::statistics::sites

namespace espalier::runtime::statistics {

/// A call of that row whose time is not counted, and which the thread is still in.
inline void count_untimed(Row& row) {
  row.calls.add(1);
  if (sites::frames > 0) sites::count(row, 0);
}

}  // namespace espalier::runtime::statistics

namespace espalier::runtime::statistics::sites {

/// What this process has counted: an array of what add() takes.
nlohmann::json pack();
/// A rank's list into `sums`, an object by place and kind of call.
void add(nlohmann::json& sums, const nlohmann::json& list);
/// `sums` as the list in the file (docs/statistics.md); `ids`: of communicators, by size.
nlohmann::json describe(const nlohmann::json& sums, const nlohmann::json& ids);

}  // namespace espalier::runtime::statistics::sites
