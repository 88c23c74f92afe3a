// The windows of a process, which every wait of it drives.
#pragma once

#include <atomic>
#include <shared_mutex>
#include <vector>

#include "network/window/window.hpp"

namespace espalier::runtime {

/// Thread-safe.
class WindowProgress {
 public:
  void add(network::NodeWindow& window);
  /// Afterwards no rank drives it any more.
  void remove(network::NodeWindow& window);
  /// No rank drives any of them any more.
  void forget();
  /// Costs next to nothing where there is no window.
  void drive() {
    // relaxed: a window that is being added is driven a little later.
    if (count_.load(std::memory_order_relaxed) > 0) drive_all();
  }

 private:
  void drive_all();

  std::shared_mutex mutex_;  // of the list
  std::vector<network::NodeWindow*> windows_;
  std::atomic<int> count_{0};
};

}  // namespace espalier::runtime
