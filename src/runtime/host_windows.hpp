// The program's windows of the host's: through them other ranks may need this one at any time.
#pragma once

#include <atomic>

namespace espalier::runtime {

/// How many this process has open. While there are any, its waits drive the host's progress as readily as the
/// host's own waits do. Relaxed: no rank works on a window before all have come back from making it, and a
/// wait that sees the number late does so for one sleep.
inline std::atomic<int> host_windows{0};

inline void add_host_window() { host_windows.fetch_add(1, std::memory_order_relaxed); }
/// Also of one that was made by a function that is not exported, and so not counted.
inline void remove_host_window() {
  int before = host_windows.load(std::memory_order_relaxed);
  while (before > 0 && !host_windows.compare_exchange_weak(before, before - 1, std::memory_order_relaxed)) {
  }
}

}  // namespace espalier::runtime
