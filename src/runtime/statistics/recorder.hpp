// Counts one call, when statistics are on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/ticks.hpp"
#include "machine/wait.hpp"
#include "runtime/statistics/arrivals.hpp"
#include "runtime/statistics/counters.hpp"
#include "runtime/statistics/sites.hpp"

namespace espalier::runtime::statistics {

/// Lives as long as the call; without a row (statistics are off) it costs two tests of a register. With one
/// it reads the clock twice and adds two numbers.
class Recorder {
 public:
  /// `arrivals`: of a call that waits for all; null: none are counted.
  Recorder(Row* row, const machine::Waiter& waiter, Arrivals* arrivals = nullptr) : row_(row) {
    if (row_) [[unlikely]]
      start(waiter, arrivals);
  }
  ~Recorder() {
    if (row_) [[unlikely]]
      stop();
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  void start(const machine::Waiter& waiter, Arrivals* arrivals) {
    const machine::WaitCounts& now = waiter.counts();
    waiter_ = &waiter;
    spin_ = now.spin, progress_ = now.progress, yield_ = now.yield, sleep_ = now.sleep;
    arrivals_ = arrivals;
    start_ = ticks::now();
    if (arrivals_) arrivals_->come(start_);
  }
  void stop() {
    const std::uint64_t took = ticks::now() - start_;
    row_->ticks.add(took);
    row_->calls.add(1);
    if (arrivals_) add_arrivals(took);
    if (sites::frames > 0) sites::count(*row_, took);
    // Each wait begins with spinning, or, for others that may need this rank, with driving the host.
    if (waiter_->counts().spin != spin_ || waiter_->counts().progress != progress_) add_waits();
  }
  [[gnu::noinline]] void add_arrivals(std::uint64_t took) {
    const auto wait = arrivals_->waited();
    if (!wait) return;
    row_->waited.add(std::min(wait->ticks, took));  // clocks of two cores may differ by some ticks
    row_->last.add(wait->was_last);
    row_->bytes.add(arrivals_->bytes());
    if (wait->was_last) row_->spread[width_of(wait->spread)].add(1);
  }
  static std::size_t width_of(std::uint64_t spread) {
    const double nanoseconds = static_cast<double>(spread) * ticks::seconds_per_tick() * 1e9;
    const auto width = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(nanoseconds)));
    return std::min(width, std::tuple_size_v<decltype(Row::spread)> - 1);
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
  Arrivals* arrivals_;
  std::uint64_t spin_, progress_, yield_, sleep_;  ///< of the waiter, when the call began
  std::uint64_t start_;
};

}  // namespace espalier::runtime::statistics
