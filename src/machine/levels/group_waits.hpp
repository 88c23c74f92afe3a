// How the members of a group whose segment they share sleep in a wait, and are woken by a store.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "memory/futex.hpp"

namespace espalier::machine {

/// On a line of its own, which is zero when the levels are made; the header of the C API looks at it, too
/// (espalier_group_waits). A word of a segment is any word, so sleepers sleep on one of the group's, `rings`,
/// and a store wakes all of them. Thread-safe but for begin().
struct GroupWaits {
  std::atomic<std::uint32_t> sleepers;  ///< how many members sleep or are about to
  std::uint32_t fenced;                 ///< whether a store has a fence before its look at `sleepers`
  std::uint32_t looks;                  ///< how often a wait looks before it is more than a loop
  std::atomic<std::uint32_t> rings;

  /// Of the leader, before any member uses it. `oversubscribed`: as WaitPolicy::fenced and its spins.
  void begin(bool oversubscribed) {
    fenced = oversubscribed;
    looks = oversubscribed ? 20 : 400;
  }

  /// After each store to a word of the segment.
  void stored() {
    // Orders the store before the load (Dekker with sleep(): either the sleeper sees the word, or we see it).
    if (fenced != 0) std::atomic_thread_fence(std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake();
  }

  void wake() {
    rings.fetch_add(1, std::memory_order_release);  // pairs with the load in sleep()
    memory::futex_wake_all(reinterpret_cast<std::uint32_t*>(&rings));
  }

  /// Sleeps until a member has stored a word, but not if done() is true; `limit` at most.
  template <class Done>
  void sleep(const Done& done, std::chrono::microseconds limit) {
    // acquire: who sees the ring of a store sees the word.
    const std::uint32_t seen = rings.load(std::memory_order_acquire);
    const Asleep asleep(sleepers);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence in stored()
    if (!done())
      memory::futex_wait(reinterpret_cast<std::uint32_t*>(&rings), seen,
                         static_cast<std::uint32_t>(limit.count()));
  }

 private:
  /// done() may throw.
  struct Asleep {
    explicit Asleep(std::atomic<std::uint32_t>& all) : sleepers(all) {
      sleepers.fetch_add(1, std::memory_order_relaxed);
    }
    ~Asleep() { sleepers.fetch_sub(1, std::memory_order_relaxed); }
    Asleep(const Asleep&) = delete;
    Asleep& operator=(const Asleep&) = delete;
    std::atomic<std::uint32_t>& sleepers;
  };
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(GroupWaits) == 16,
              "it is shared between processes, and with C");

}  // namespace espalier::machine
