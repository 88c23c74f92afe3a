// A rank's thread of control, which its scheduler resumes and which pauses itself.
#pragma once

#include <boost/context/fiber.hpp>
#include <functional>
#include <span>

#include "simulation/fiber/stack_switch.hpp"

namespace espalier::simulation {

/// Not thread-safe: fiber and scheduler share one thread. A fiber may pause while it handles an exception.
class Fiber {
 public:
  /// `body` begins with the first resume(), on `stack`, and must not throw. A fiber that has begun must end
  /// before it is destroyed.
  void start(std::span<std::byte> stack, std::function<void()> body);
  /// Runs the fiber until it pauses or ends.
  void resume() {
    exceptions_.swap_with_thread();
    switch_.scheduler_leaves();
    fiber_ = std::move(fiber_).resume();
    switch_.scheduler_is_back();
    exceptions_.swap_with_thread();
  }
  /// Returns to the caller of resume(). Called within the fiber.
  void pause() {
    switch_.fiber_leaves();
    scheduler_ = std::move(scheduler_).resume();
    switch_.fiber_is_back();
  }
  bool is_done() const { return done_; }

 private:
  /// What __cxa_eh_globals holds (Itanium C++ ABI: Exception Handling, 2.2.2). The runtime keeps one a thread, as a
  /// stack: without this, a fiber that leaves its handler would end the exception that another one handles.
  class Exceptions {
   public:
    void swap_with_thread();

   private:
    void* caught_ = nullptr;
    unsigned uncaught_ = 0;
  };

  boost::context::fiber fiber_, scheduler_;
  Exceptions exceptions_;
  bool done_ = true;
  [[no_unique_address]] StackSwitch switch_;
};

}  // namespace espalier::simulation
