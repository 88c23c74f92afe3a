// When a rank that waits in a call over nodes asks the others where they are.
#pragma once

#include <cstdint>
#include <utility>

#include "machine/host_platform.hpp"
#include "runtime/failure/failure_notices.hpp"

namespace espalier::runtime::across {

/// As in blocking calls: after half a second, then after twice as long, and so on. Used by one thread at a time.
class Patience {
 public:
  /// To be called whenever a look for that call has been in vain.
  bool is_over(std::uint64_t call) {
    if (++looks_ % looks_between != 0) return false;
    const std::int64_t now = machine::HostPlatform::now_ns();
    if (std::exchange(waits_in_, call) != call) {
      apart_ns_ = FailureNotices::first_question_ns;
      next_ns_ = now + apart_ns_;
    }
    if (now < next_ns_) return false;
    apart_ns_ *= 2;
    next_ns_ = now + apart_ns_;
    return true;
  }

 private:
  static constexpr unsigned looks_between = 8;  // asking for the time is not free
  unsigned looks_ = 0;
  std::uint64_t waits_in_ = 0;
  std::int64_t next_ns_ = 0, apart_ns_ = 0;
};

}  // namespace espalier::runtime::across
