// The windows that communicators keep for their own collectives.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/window/window.hpp"

namespace espalier::runtime {

/// In the order of their creation, which is the same on all ranks that have two windows in common. Where
/// leaving a window is collective, ranks that leave them in this order cannot deadlock. Thread-safe.
class WindowCache {
 public:
  /// The process's.
  static WindowCache& instance();

  Window& add(std::unique_ptr<Window> window);
  /// Leaves and destroys one (see Window::leave()), unless leave_all() has been called before.
  void leave(Window& window);
  /// Keeps one for ever, without leaving it: a call on it has failed, and its messages may still arrive.
  void abandon(Window& window);
  /// The end of the job.
  void leave_all();

 private:
  std::unique_ptr<Window> take(Window& window);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Window>> windows_;
};

}  // namespace espalier::runtime
