// Why other ranks may need this one's progress of the host at any time, also while it waits in a collective.
#pragma once

#include <atomic>

namespace espalier::runtime {

/// How many reasons there are: windows of the program's that are open, and long messages that it has begun to
/// send or receive and has not completed. While there are any, waits drive the host as readily as the host's
/// own waits do. Relaxed: no rank works on a window before all have come back from making it, a message is
/// its rank's own, and a wait that sees the number late does so for one sleep.
inline std::atomic<int> progress_needs{0};

/// How many of them are windows.
inline std::atomic<int> host_windows{0};

inline void add_progress_need() { progress_needs.fetch_add(1, std::memory_order_relaxed); }
inline void remove_progress_need() { progress_needs.fetch_sub(1, std::memory_order_relaxed); }

inline void add_host_window() {
  host_windows.fetch_add(1, std::memory_order_relaxed);
  add_progress_need();
}
/// Also of one that was made by a function that is not exported, and so not counted.
inline void remove_host_window() {
  int before = host_windows.load(std::memory_order_relaxed);
  while (before > 0 && !host_windows.compare_exchange_weak(before, before - 1, std::memory_order_relaxed)) {
  }
  if (before > 0) remove_progress_need();
}

}  // namespace espalier::runtime
