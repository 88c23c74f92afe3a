// When a rank that waits in a call over nodes asks the others where they are.
#pragma once

#include <cstdint>
#include <utility>

#include "machine/host_platform.hpp"
#include "runtime/failure/failure_notices.hpp"

namespace espalier::runtime::across {

/// As in blocking calls (FailureNotices): at the end of an interval it says which ranks of its own node have ended, then
/// it asks; each interval is twice as long as the one before. Used by one thread at a time.
class Patience {
 public:
  enum class Step { none, look_at_node, ask };

  /// To be called whenever a look for that call has been in vain.
  Step next_step(std::uint64_t call) {
    if (++looks_ % looks_between != 0) return Step::none;
    const std::int64_t now = machine::HostPlatform::now_ns();
    if (std::exchange(waits_in_, call) != call) {
      interval_ns_ = FailureNotices::first_interval_ns;
      next_ns_ = now + interval_ns_;
      next_ = Step::look_at_node;
    }
    if (now < next_ns_) return Step::none;
    if (next_ == Step::ask) interval_ns_ *= 2;
    next_ns_ = now + (next_ == Step::ask ? interval_ns_ : FailureNotices::after_interval_ns);
    return std::exchange(next_, next_ == Step::ask ? Step::look_at_node : Step::ask);
  }

 private:
  static constexpr unsigned looks_between = 8;  // asking for the time is not free
  unsigned looks_ = 0;
  std::uint64_t waits_in_ = 0;
  std::int64_t next_ns_ = 0, interval_ns_ = 0;
  Step next_ = Step::look_at_node;
};

}  // namespace espalier::runtime::across
