// Gathers what ranks say of themselves before they share anything, and repeats that until it is stable:
// another thread of a process may join a node at the same time, together with other ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "runtime/process/bootstrap.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

/// A pause of random length, the same on all ranks of a communicator and longer from attempt to attempt. So
/// two communicators that hinder each other try again at different times.
inline void pause_together(const Bootstrap& bootstrap, int attempt) {
  const auto longest = std::uint32_t{16} << std::min(attempt, 9);  // in microseconds
  const std::uint32_t mine = bootstrap.rank == 0 ? std::random_device()() % longest : 0;
  std::this_thread::sleep_for(std::chrono::microseconds(exchange(bootstrap, mine).front()));
}

/// Collective. Calls gather(), and join() where that is needed, until all ranks have joined a node or never
/// will, and returns the last result. gather() returns a record of each rank, with `joined`, `joining` and
/// `declined`. `discard(all)` releases what belongs to a result that is not used. Each decision depends on
/// the gathered records only, so that all ranks decide alike.
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
    // Ranks make their records one after the other: some before another thread's join(), some after it. In
    // the next round all ranks of that join() say that they have joined.
    const bool mixed = joined && missing;
    const bool settled = !joining && (declined || (joined && (!mixed || mixed_before)));
    if (settled || attempt == most_attempts) return all;
    discard(all);
    if (joining || (!joined && !Process::instance().join(bootstrap))) pause_together(bootstrap, attempt);
    mixed_before = mixed && !joining;
  }
}

}  // namespace espalier::runtime
