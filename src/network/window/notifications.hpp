// The notifications of a node: numbers in memory that all its ranks share.
#pragma once

#include <cstdint>

#include "network/window/landings.hpp"

namespace espalier::network {

/// A view of an array of values, one for each id, zero where nothing has come. Thread-safe, and shared
/// between processes.
template <class Platform>
class BasicNotifications {
 public:
  using Value = typename Platform::template Atomic<std::uint32_t>;
  using Landings = BasicLandings<Platform>;
  static_assert(Value::is_always_lock_free, "notifications are shared between processes");

  /// `landings`: where a host's one-sided calls leave notifications; then all are there, and none in
  /// `values`.
  BasicNotifications(Value* values, int ids, Landings landings = {})
      : values_(values), ids_(ids), landings_(landings) {}

  int ids() const { return ids_; }
  const Landings& landings() const { return landings_; }

  /// Release: pairs with the acquires below. What the setter wrote before, or has seen written, is visible to
  /// the rank that sees the value.
  void set(int id, std::uint32_t value) const {
    if (landings_)
      landings_.set(id, value);
    else
      values_[id].store(value, std::memory_order_release);
  }

  std::uint32_t test(int id) const {
    return landings_ ? landings_.test(id) : values_[id].load(std::memory_order_acquire);
  }

  /// Acquire, as test(); release, so that the rank that sees the zero sees what this rank did before.
  std::uint32_t reset(int id) const {
    return landings_ ? landings_.reset(id) : values_[id].exchange(0, std::memory_order_acq_rel);
  }

  /// The lowest of these ids whose value is not zero, -1 if there is none.
  int find(int first, int count) const {
    for (int id = first; id < first + count; ++id)
      if (landings_) {
        if (landings_.test(id) != 0) return id;
      } else if (values_[id].load(std::memory_order_relaxed) != 0) {
        // A relaxed look at each, since nearly all are in vain; the acquire follows where there is something.
        Platform::fence(std::memory_order_acquire);
        return id;
      }
    return -1;
  }

 private:
  Value* values_;
  int ids_;
  Landings landings_;
};

using Notifications = BasicNotifications<HostPlatform>;

}  // namespace espalier::network
