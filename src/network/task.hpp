// A network algorithm as a coroutine: sequential text, of which several run at once.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace espalier::network {

/// Runs until its first unfinished message when it is made, then whenever a message it awaits is done (see
/// Endpoint::drive). A task may await another. The function that made it keeps it, and the buffers it works
/// on, until done().
class Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct Return {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle finished) const noexcept;
    void await_resume() const noexcept {}
  };
  struct promise_type {
    std::exception_ptr error;
    std::coroutine_handle<> awaiting = std::noop_coroutine();
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    Return final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() { error = std::current_exception(); }
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// True for no task at all. Throws what the task threw.
  bool done() const {
    if (!handle_ || !handle_.done()) return !handle_;
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return true;
  }

  bool await_ready() const { return handle_.done(); }
  void await_suspend(std::coroutine_handle<> awaiting) const { handle_.promise().awaiting = awaiting; }
  void await_resume() const { done(); }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

inline std::coroutine_handle<> Task::Return::await_suspend(Handle finished) const noexcept {
  return finished.promise().awaiting;
}

}  // namespace espalier::network
