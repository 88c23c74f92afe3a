// Where a host's one-sided calls leave notifications.
#pragma once

#include <cstddef>
#include <cstdint>

#include "network/window/platform.hpp"

namespace espalier::network {

/// A view of two words for each id: one that the host alone writes, and one that the ranks of the node alone
/// write. A host may store the same word twice (a memcpy of 4 to 7 bytes is two stores), so a rank must not
/// take a notification back in the word itself: the second store would bring it again. What has arrived is
/// what differs from what was taken. Thread-safe, and shared between processes.
template <class Platform>
class BasicLandings {
 public:
  using Word = typename Platform::template Atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "landings are shared between processes");

  /// None.
  BasicLandings() = default;
  BasicLandings(Word* words, int ids) : arrived_(words), taken_(words + ids) {}
  static std::size_t words(int ids) { return 2 * static_cast<std::size_t>(ids); }

  explicit operator bool() const { return arrived_ != nullptr; }
  Word* arrived() const { return arrived_; }

  /// What a host writes: never what it wrote before, or the notification is not seen.
  static std::uint64_t word(std::uint32_t number, std::uint32_t value) {
    return std::uint64_t{number} << 32 | value;
  }

  // What was taken is read first, acquire, which pairs with the exchange in reset(): then what is seen to
  // have arrived is as new at least as what was taken. The other way round one that was taken long ago would
  // be there again, as the one before the last.
  std::uint32_t test(int id) const {
    const std::uint64_t taken = taken_[id].load(std::memory_order_acquire);
    const std::uint64_t now = arrived_[id].load(std::memory_order_acquire);
    return now == taken ? 0 : static_cast<std::uint32_t>(now);
  }

  /// Of several ranks one gets the value: the one that moves `taken`.
  std::uint32_t reset(int id) const {
    std::uint64_t taken = taken_[id].load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t now = arrived_[id].load(std::memory_order_acquire);
      if (now == taken) return 0;
      if (taken_[id].compare_exchange_weak(taken, now, std::memory_order_acq_rel, std::memory_order_acquire))
        return static_cast<std::uint32_t>(now);
    }
  }

 private:
  Word* arrived_ = nullptr;
  Word* taken_ = nullptr;
};

using Landings = BasicLandings<HostPlatform>;

}  // namespace espalier::network
