// The notifications of a node: numbers in memory that all its ranks share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace espalier::network {

/// A view of an array of values, one for each id, zero where nothing has come. Thread-safe, and shared
/// between processes.
class Notifications {
 public:
  using Value = std::atomic<std::uint32_t>;
  static_assert(Value::is_always_lock_free, "notifications are shared between processes");

  Notifications(Value* values, int ids) : values_(values), ids_(ids) {}

  int ids() const { return ids_; }
  Value* values() const { return values_; }

  /// Release: pairs with the acquires below. What the setter wrote before, or has seen written, is visible to
  /// whoever sees the value.
  void set(int id, std::uint32_t value) const { values_[id].store(value, std::memory_order_release); }

  std::uint32_t test(int id) const { return values_[id].load(std::memory_order_acquire); }

  /// Acquire, as test(); release, so that whoever sees the zero sees what this rank did before.
  std::uint32_t reset(int id) const { return values_[id].exchange(0, std::memory_order_acq_rel); }

  /// The lowest of these ids whose value is not zero, -1 if there is none.
  int find(int first, int count) const {
    for (int id = first; id < first + count; ++id)
      // A relaxed look at each, since nearly all are in vain; the acquire follows where there is something.
      if (values_[id].load(std::memory_order_relaxed) != 0) {
        std::atomic_thread_fence(std::memory_order_acquire);
        return id;
      }
    return -1;
  }

 private:
  Value* values_;
  int ids_;
};

}  // namespace espalier::network
