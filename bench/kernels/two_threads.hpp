// Two threads, each on a core of its own, and the flags by which they hear of each other.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "measure.hpp"

namespace espalier::bench {

struct alignas(128) Line {
  std::atomic<int> flag{0};
  int payload[8] = {};  // arrives together with the flag: the same line
};

inline Line lines[2];

inline void publish(int thread, int value) { lines[thread].flag.store(value, std::memory_order_release); }

/// The acquire pairs with the release in publish().
inline void await(int thread, int value) {
  while (lines[thread].flag.load(std::memory_order_acquire) < value) continue;
}

/// One thread's share: thread 0 or 1, and the numbers of the turns to take.
using Turns = std::function<void(int self, int first, int count)>;

/// Registers a measurement of the time of one turn, in `moved` bytes a turn if not 0. Each repetition takes
/// `turns` turns to warm up and as many that are timed. Nothing is registered where there is one core.
void add_for_two(const std::string& name, int turns, std::size_t moved, Turns take);

}  // namespace espalier::bench
