// Where a host's one-sided calls leave notifications.
#pragma once

#include <cstddef>
#include <cstdint>

#include "network/window/platform.hpp"

namespace espalier::network {

/// A view of two words for each id: one that the host alone writes, and one that the ranks of the node alone
/// write. A host may store the same word twice (a memcpy of 4 to 7 bytes is two stores), so a rank must not
/// take a notification back in the word itself: the second store would bring it again. The ranks' word says
/// up to which landing they have heard, and what they themselves have set since: what landed later overwrites
/// that. Thread-safe, and shared between processes.
template <class Platform>
class BasicLandings {
 public:
  using Word = typename Platform::template Atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "landings are shared between processes");

  /// None.
  BasicLandings() = default;
  BasicLandings(Word* words, int ids) : arrived_(words), heard_(words + ids) {}
  static std::size_t words(int ids) { return 2 * static_cast<std::size_t>(ids); }

  explicit operator bool() const { return arrived_ != nullptr; }
  Word* arrived() const { return arrived_; }

  /// What a host writes: never with the number that it wrote before, nor with 0 at first, or the notification
  /// is not seen.
  static std::uint64_t word(std::uint32_t number, std::uint32_t value) {
    return std::uint64_t{number} << 32 | value;
  }

  /// The value that came last, whether it landed or a rank of the node has set it.
  std::uint32_t test(int id) const { return value_of(current(id)); }

  /// Release: pairs with the acquires of the others.
  void set(int id, std::uint32_t value) const {
    replace(id, [&](std::uint64_t current) { return word(number_of(current), value); });
  }

  /// Of several ranks one gets the value: the one that moves `heard`.
  std::uint32_t reset(int id) const {
    if (test(id) == 0) return 0;
    return value_of(replace(id, [](std::uint64_t current) { return word(number_of(current), 0); }));
  }

 private:
  static std::uint32_t number_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
  static std::uint32_t value_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

  // Acquire on both: the data come with the value, wherever it is from.
  std::uint64_t newer(int id, std::uint64_t heard) const {
    const std::uint64_t now = arrived_[id].load(std::memory_order_acquire);
    return number_of(now) == number_of(heard) ? heard : now;
  }
  // What was heard of is read first: then what is seen to have arrived is as new at least. The other way
  // round a landing that was taken long ago would be there again, as the one before the last.
  std::uint64_t current(int id) const { return newer(id, heard_[id].load(std::memory_order_acquire)); }

  /// heard = change(what stands); returns what stood.
  template <class Change>
  std::uint64_t replace(int id, Change change) const {
    std::uint64_t heard = heard_[id].load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t current = newer(id, heard);
      if (heard_[id].compare_exchange_weak(heard, change(current), std::memory_order_acq_rel,
                                           std::memory_order_acquire))
        return current;
    }
  }

  Word* arrived_ = nullptr;
  Word* heard_ = nullptr;
};

using Landings = BasicLandings<HostPlatform>;

}  // namespace espalier::network
