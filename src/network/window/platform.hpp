// What the text of windows stands on: atomic values and fences, copies, how a rank passes its waits. The text
// is written against a platform, so that simulate/ runs that very text on a memory and a network that check
// it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>

#include "memory/copy/slot_writer.hpp"
#include "network/spin_limits.hpp"

namespace espalier::network {

/// Real memory and the processor's own operations; all is inlined, and costs nothing.
struct HostPlatform {
  template <class T>
  using Atomic = std::atomic<T>;
  template <class T>
  using AtomicRef = std::atomic_ref<T>;
  using Wait = network::Wait;

  static void fence(std::memory_order order) { std::atomic_thread_fence(order); }
  static void copy(void* target, const void* source, std::size_t bytes) {
    std::memcpy(target, source, bytes);
  }

  /// For data that another core reads next.
  using SlotWriter = memory::SlotWriter<>;
  static void settle_streams() { memory::settle_streams(); }
};

}  // namespace espalier::network
