// The windows that communicators keep for their own collectives.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/window/window.hpp"

namespace espalier::runtime {

/// In the order of their creation, which is the same on all ranks that share two of them: where leaving takes
/// all ranks, they can leave all windows in this order and never wait in a circle. Thread-safe.
class WindowCache {
 public:
  /// The process's.
  static WindowCache& instance();

  Window& add(std::unique_ptr<Window> window);
  /// Leaves one (see Window::leave()), unless leave_all() has been called before.
  void leave(Window& window);
  /// Never destroyed, nor left: a call on it has failed, and what is under way may still come.
  void abandon(Window& window);
  /// The end of the job.
  void leave_all();

 private:
  std::unique_ptr<Window> take(Window& window);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Window>> windows_;
};

}  // namespace espalier::runtime
