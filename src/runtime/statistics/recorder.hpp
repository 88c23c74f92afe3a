// Counts one call, when statistics are on.
#pragma once

#include <cstdint>

#include "base/ticks.hpp"
#include "machine/wait.hpp"
#include "runtime/statistics/counters.hpp"

namespace espalier::runtime::statistics {

/// Lives as long as the call; without a row (statistics are off) it costs two tests of a register. With one
/// it reads the clock twice and adds two numbers.
class Recorder {
 public:
  Recorder(Row* row, const machine::Waiter& waiter) : row_(row) {
    if (row_) [[unlikely]]
      start(waiter);
  }
  ~Recorder() {
    if (row_) [[unlikely]]
      stop();
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  void start(const machine::Waiter& waiter) {
    const machine::WaitCounts& now = waiter.counts();
    waiter_ = &waiter;
    spin_ = now.spin, progress_ = now.progress, yield_ = now.yield, sleep_ = now.sleep;
    start_ = ticks::now();
  }
  void stop() {
    row_->ticks.add(ticks::now() - start_);
    row_->calls.add(1);
    // Each wait begins with spinning, or, for others that may need this rank, with driving the host.
    if (waiter_->counts().spin != spin_ || waiter_->counts().progress != progress_) add_waits();
  }
  [[gnu::noinline]] void add_waits() {
    const machine::WaitCounts& now = waiter_->counts();
    row_->spin.add(now.spin - spin_);
    row_->progress.add(now.progress - progress_);
    row_->yield.add(now.yield - yield_);
    row_->sleep.add(now.sleep - sleep_);
  }

  Row* row_;
  // Not set without a row: that would be work in each call.
  const machine::Waiter* waiter_;
  std::uint64_t spin_, progress_, yield_, sleep_;  ///< of the waiter, when the call began
  std::uint64_t start_;
};

}  // namespace espalier::runtime::statistics
