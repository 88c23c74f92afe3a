#include "runtime/window/window_cache.hpp"

#include <algorithm>

namespace espalier::runtime {

WindowCache& WindowCache::instance() {
  // Never destroyed: windows leave Process, which is not either, only where all ranks agree to.
  static WindowCache& cache = *new WindowCache;
  return cache;
}

Window& WindowCache::add(std::unique_ptr<Window> window) {
  const std::lock_guard lock(mutex_);
  return *windows_.emplace_back(std::move(window));
}

void WindowCache::leave(Window& window) {
  if (const auto gone = take(window)) gone->leave();
}

void WindowCache::abandon(Window& window) { static_cast<void>(take(window).release()); }

void WindowCache::leave_all() {
  std::vector<std::unique_ptr<Window>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(windows_);
  }
  for (const auto& window : all) window->leave();
}

std::unique_ptr<Window> WindowCache::take(Window& window) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(windows_.begin(), windows_.end(), [&](const auto& each) { return each.get() == &window; });
  if (found == windows_.end()) return nullptr;
  std::unique_ptr<Window> taken = std::move(*found);
  windows_.erase(found);
  return taken;
}

}  // namespace espalier::runtime
