// Ranks as threads of one process over one piece of memory: the algorithms without processes, MPI or arena.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/collective/watched_machine.hpp"

namespace espalier::testing {

class Ranks {
 public:
  /// Whom a rank progress calls while it waits.
  using PokeOf = std::function<machine::ProgressHook(int rank)>;

  explicit Ranks(
      int count, int slots = 8, std::size_t slot_bytes = 4096,
      machine::WaitMode mode = machine::WaitMode::automatic,
      const PokeOf& hook_of = [](int) { return machine::ProgressHook{}; }, bool many_pairwise = false) {
    machine::Layout layout;
    layout.many_pairwise = many_pairwise;
    layout.ranks = count;
    layout.slots = slots;
    layout.slot_bytes = slot_bytes;
    memory_.reset(
        static_cast<std::byte*>(std::aligned_alloc(4096, machine::Layout::round_up(layout.bytes(), 4096))));
    std::memset(memory_.get(), 0, layout.bytes());
    const pid_t process = getpid();  // all ranks are threads of it
    for (int rank = 0; rank < count; ++rank)
      std::memcpy(memory_.get() + layout.process(rank), &process, sizeof process);
    const double cores = std::max(1u, std::thread::hardware_concurrency());
    for (int rank = 0; rank < count; ++rank)
      machines_.push_back(std::make_unique<WatchedMachine>(
          memory_.get(), layout, rank, machine::wait_policy(mode, count / cores), hook_of(rank)));
  }

  /// As those are that share cores: more than two trade cells, too.
  static Ranks pairwise(int count, int slots = 8, std::size_t slot_bytes = 4096) {
    return Ranks(
        count, slots, slot_bytes, machine::WaitMode::automatic, [](int) { return machine::ProgressHook{}; },
        true);
  }

  int count() const { return static_cast<int>(machines_.size()); }
  WatchedMachine& machine(int rank) { return *machines_[static_cast<std::size_t>(rank)]; }

  static bool single_copy() {
    int source = 1, target = 0;
    return memory::read_remotely(getpid(), &target, &source, sizeof source) && target == source;
  }

  /// Runs `body` on every rank at once; state persists between calls.
  void run(const std::function<void(WatchedMachine&)>& body) {
    std::vector<std::thread> threads;
    for (auto& each : machines_) threads.emplace_back([&body, &each] { body(*each); });
    for (auto& thread : threads) thread.join();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::vector<std::unique_ptr<WatchedMachine>> machines_;
};

/// A value that depends on everything, small enough that sums of doubles are exact.
inline double value_of(int rank, std::size_t index, int round) {
  return static_cast<double>(
             (static_cast<std::size_t>(rank) * 7919 + index * 31 + static_cast<std::size_t>(round) * 131) %
             1021) -
         510;
}

inline std::vector<double> vector_of(int rank, std::size_t count, int round) {
  std::vector<double> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = value_of(rank, i, round);
  return v;
}

inline std::vector<double> sum_of(int ranks, std::size_t count, int round) {
  std::vector<double> v(count, 0.0);
  for (int r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < count; ++i) v[i] += value_of(r, i, round);
  return v;
}

}  // namespace espalier::testing
