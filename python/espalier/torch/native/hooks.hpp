// torch's hooks of a backend (torch 2.15 and later): from them its flight recorder learns which collectives are over, and when
// to write its trace. docs/pytorch.md says which groups it hears of.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace espalier_torch {

/// Of collectives that are over. A number is never used twice in a process.
inline std::uint64_t next_completion_key() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: nothing else goes by it
}

#ifdef C10D_BACKEND_HAS_HOOKS

/// Hooks of one kind by their numbers. Thread-safe; runs them without a lock, since they may take others.
template <class Hook>
class HookTable {
 public:
  void add(std::int64_t number, Hook hook) {
    const std::lock_guard lock(mutex_);
    hooks_[number] = std::move(hook);
    any_.store(true, std::memory_order_release);  // pairs with any()
  }
  void remove(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    hooks_.erase(number);
    any_.store(!hooks_.empty(), std::memory_order_release);
  }
  bool any() const { return any_.load(std::memory_order_acquire); }
  template <class... Arguments>
  void run(const Arguments&... arguments) {
    std::vector<Hook> hooks;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, hook] : hooks_) hooks.push_back(hook);
    }
    for (const Hook& hook : hooks) hook(arguments...);
  }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, Hook> hooks_;
  std::atomic<bool> any_{false};
};

class Hooks {
 public:
  HookTable<c10d::AbortHook> abort;
  HookTable<c10d::CompletionHook> completion;

  /// Has `body` done, and tells who listens how it ended. `key`: that of its work.
  template <class Body>
  void around(std::uint64_t key, Body&& body) {
    if (!completion.any() && !abort.any()) return body();
    const auto began = std::chrono::steady_clock::now();
    try {
      body();
    } catch (...) {
      abort.run();
      throw;
    }
    const std::chrono::duration<float, std::milli> took = std::chrono::steady_clock::now() - began;
    c10d::CompletionHookArgs arguments;
    arguments.completionKey = key;
    arguments.duration_ms = took.count();
    completion.run(arguments);
  }
};

#else

struct Hooks {
  template <class Body>
  void around(std::uint64_t, Body&& body) {
    body();
  }
};

#endif

}  // namespace espalier_torch
