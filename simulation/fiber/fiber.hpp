// A rank's thread of control, which its scheduler resumes and which pauses itself.
#pragma once

#include <boost/context/fiber.hpp>
#include <functional>
#include <span>

namespace espalier::simulation {

/// Not thread-safe: fiber and scheduler share one thread.
class Fiber {
 public:
  /// `body` begins with the first resume(), on `stack`, and must not throw. A fiber that has begun must end
  /// before it is destroyed.
  void start(std::span<std::byte> stack, std::function<void()> body);
  /// Runs the fiber until it pauses or ends.
  void resume() { fiber_ = std::move(fiber_).resume(); }
  /// Returns to the caller of resume(). Called within the fiber.
  void pause() { scheduler_ = std::move(scheduler_).resume(); }
  bool is_done() const { return done_; }

 private:
  boost::context::fiber fiber_, scheduler_;
  bool done_ = true;
};

}  // namespace espalier::simulation
