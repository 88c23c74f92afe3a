// What AddressSanitizer has to know about fibers. Without it, this file's functions do nothing.
#pragma once

#include <cstddef>
#include <span>

#ifdef __SANITIZE_ADDRESS__
#define ESPALIER_FIBERS_ARE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ESPALIER_FIBERS_ARE_SANITIZED 1
#endif
#endif
#ifdef ESPALIER_FIBERS_ARE_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace espalier::simulation {

/// Announces each change of stacks: the sanitizer clears its marks of the stack that it believes is in use when an
/// exception is thrown. With the wrong one, marks of frames that are gone stay, and later frames are reported.
class StackSwitch {
 public:
#ifdef ESPALIER_FIBERS_ARE_SANITIZED
  /// Frames with the sanitizer's red zones are several times as large.
  static constexpr std::size_t frame_factor = 4;

  void begin(std::span<std::byte> stack) {
    stack_ = stack;
    __asan_unpoison_memory_region(stack.data(), stack.size());  // marks of the last frame of an earlier fiber
  }
  void scheduler_leaves() { __sanitizer_start_switch_fiber(&of_scheduler_, stack_.data(), stack_.size()); }
  void scheduler_is_back() { __sanitizer_finish_switch_fiber(of_scheduler_, nullptr, nullptr); }
  void fiber_begins() { __sanitizer_finish_switch_fiber(nullptr, &scheduler_, &scheduler_bytes_); }
  void fiber_leaves() { __sanitizer_start_switch_fiber(&of_fiber_, scheduler_, scheduler_bytes_); }
  void fiber_is_back() { __sanitizer_finish_switch_fiber(of_fiber_, &scheduler_, &scheduler_bytes_); }
  void fiber_ends() { __sanitizer_start_switch_fiber(nullptr, scheduler_, scheduler_bytes_); }

 private:
  std::span<std::byte> stack_;
  const void* scheduler_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
  void *of_scheduler_ = nullptr, *of_fiber_ = nullptr;
#else
  static constexpr std::size_t frame_factor = 1;

  void begin(std::span<std::byte>) {}
  void scheduler_leaves() {}
  void scheduler_is_back() {}
  void fiber_begins() {}
  void fiber_leaves() {}
  void fiber_is_back() {}
  void fiber_ends() {}
#endif
};

}  // namespace espalier::simulation
