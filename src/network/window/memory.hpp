// A node's part of a window, as one of its ranks maps it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "network/window/notifications.hpp"

namespace espalier::network {

/// A view. The caller has checked the offsets; those of atomic operations are multiples of 8.
template <class Platform>
struct BasicWindowMemory {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  BasicNotifications<Platform> notifications;

  void write(std::size_t offset, const void* source, std::size_t count) const {
    if (count > 0) Platform::copy(base + offset, source, count);
  }
  void read(std::size_t offset, void* target, std::size_t count) const {
    if (count > 0) Platform::copy(target, base + offset, count);
  }

  // A rank of the node always does these with the processor's atomic operations, also for a rank of another
  // node: so all of them are atomic with each other. Acquire and release, so that they may guard data.
  std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) const {
    return word(offset).fetch_add(value, std::memory_order_acq_rel);
  }
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t expected, std::uint64_t desired) const {
    word(offset).compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
    return expected;
  }

  /// Pairs with load() and the atomic operations: the rank that sees the value sees what came before it.
  void store(std::size_t offset, std::uint64_t value) const {
    word(offset).store(value, std::memory_order_release);
  }
  std::uint64_t load(std::size_t offset) const { return word(offset).load(std::memory_order_acquire); }

  /// True for the first rank that puts `value` there. Relaxed: no data depend on it.
  bool claim(std::size_t offset, std::uint32_t value) const {
    using Mark = typename Platform::template AtomicRef<std::uint32_t>;
    static_assert(Mark::is_always_lock_free, "marks are shared between processes");
    return Mark(*reinterpret_cast<std::uint32_t*>(base + offset))
               .exchange(value, std::memory_order_relaxed) != value;
  }

 private:
  using Word = typename Platform::template AtomicRef<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "the words are shared between processes");
  Word word(std::size_t offset) const { return Word(*reinterpret_cast<std::uint64_t*>(base + offset)); }
};

using WindowMemory = BasicWindowMemory<HostPlatform>;

}  // namespace espalier::network
