// What ranks say of themselves before they share anything, gathered when it holds still: another thread may
// make its process join a node at the same time, together with other ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "runtime/process/bootstrap.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

/// A pause that all ranks of a communicator make alike, ever longer, and ranks of other communicators
/// differently, so that two which are in each other's way part.
inline void pause_together(const Bootstrap& bootstrap, int attempt) {
  const auto longest = std::uint32_t{16} << std::min(attempt, 9);  // in microseconds
  const std::uint32_t mine = bootstrap.rank == 0 ? std::random_device()() % longest : 0;
  std::this_thread::sleep_for(std::chrono::microseconds(exchange(bootstrap, mine).front()));
}

/// Collective. What `gather()` gathers of all ranks, each with `joined`, `joining` and `declined`, where the
/// ranks have joined a node or never will. `discard(all)` undoes what comes with an answer that is not used.
/// By the gathered values only, so that all ranks come to the same end.
template <class Gather, class Discard>
auto gather_when_joined(const Bootstrap& bootstrap, Gather gather, Discard discard) {
  constexpr int most_attempts = 1000;
  bool mixed_before = false;
  for (int attempt = 0;; ++attempt) {
    auto all = gather();
    const auto any = [&](auto says) { return std::any_of(all.begin(), all.end(), says); };
    const bool joining = any([](const auto& each) { return each.joining; });
    const bool joined = any([](const auto& each) { return each.joined; });
    const bool missing = any([](const auto& each) { return !each.joined; });
    const bool declined = any([](const auto& each) { return each.declined; });
    // Ranks answer one after the other: some may have answered before, some after another thread's joining.
    // In a second answer all of them that took part in it say so.
    const bool mixed = joined && missing;
    const bool settled = !joining && (declined || (joined && (!mixed || mixed_before)));
    if (settled || attempt == most_attempts) return all;
    discard(all);
    if (joining || (!joined && !Process::instance().join(bootstrap))) pause_together(bootstrap, attempt);
    mixed_before = mixed && !joining;
  }
}

}  // namespace espalier::runtime
