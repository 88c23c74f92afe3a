// The list of a process's windows.
#include "runtime/process/window_progress.hpp"

#include <mutex>

namespace espalier::runtime {

void WindowProgress::add(network::NodeWindow& window) {
  const std::unique_lock lock(mutex_);
  windows_.push_back(&window);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void WindowProgress::remove(network::NodeWindow& window) {
  const std::unique_lock lock(mutex_);
  count_.fetch_sub(static_cast<int>(std::erase(windows_, &window)), std::memory_order_relaxed);
}

void WindowProgress::forget() {
  const std::unique_lock lock(mutex_);
  windows_.clear();
  count_.store(0, std::memory_order_relaxed);
}

void WindowProgress::drive_all() {
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // a thread changes the list; a later look drives the windows
  for (network::NodeWindow* window : windows_) window->drive_aside();
}

}  // namespace espalier::runtime
