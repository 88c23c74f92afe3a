// GASPI's timeouts: until when a call may wait.
#pragma once

#include <algorithm>
#include <chrono>

#include "espalier/gaspi.h"

namespace espalier::capi::gaspi {

/// In milliseconds, for calls of the C API that know no wait without end: a day.
inline constexpr int longest_ms = 24 * 60 * 60 * 1000;

inline int bounded_ms(gaspi_timeout_t timeout) {
  return static_cast<int>(std::clamp<gaspi_timeout_t>(timeout, 1, longest_ms));
}

class Deadline {
 public:
  explicit Deadline(gaspi_timeout_t timeout)
      : blocks_(timeout == GASPI_BLOCK),
        end_(Clock::now() +
             std::chrono::milliseconds(std::min<gaspi_timeout_t>(timeout, gaspi_timeout_t{1} << 40))) {}

  bool blocks() const { return blocks_; }
  std::chrono::steady_clock::time_point end() const { return end_; }
  /// How long the next wait may last: 0 when the time is over.
  int slice_ms() const {
    if (blocks_) return longest_slice_ms;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, longest_slice_ms));
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// Another thread waits so long at most for the lock.
  static constexpr int longest_slice_ms = 5;
  bool blocks_;
  Clock::time_point end_;
};

}  // namespace espalier::capi::gaspi
