// Whose turn the next call of a kind is: on trial by turns, then for long the one's that was faster (ESPALIER_GUARD).
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "runtime/guard/trial.hpp"

namespace espalier::runtime::guard {

/// All ranks make the calls of a kind in the same order, and what is counted here changes where a call begins. So ranks
/// agree on it, whatever the calls take and however they end: an error handler may leave one by an exception.
class Turns {
 public:
  Turns() = default;
  /// Of calls that are Espalier's, always.
  static Turns without_trial() {
    Turns turns;
    turns.plain_ = always;
    return turns;
  }

  /// A call begins. True: it is Espalier's, and not on trial; most calls ask no more. Else ends_pair() and begin() follow.
  bool is_plain() { return --plain_ >= 0; }
  /// Whether a pair of blocks is over: the ranks add up their measured(), and judge() the sums.
  bool ends_pair() {
    plain_ = 0;
    return std::exchange(is_measured_, false) && trial_.note(std::exchange(took_, 0));
  }
  const Pair& measured() const { return trial_.mine(); }
  void judge(Pair of_all_ranks);
  /// Who serves the call.
  Server begin();
  /// Whether it is on trial.
  bool is_measured() const { return is_measured_; }
  /// It is over. Without that it counts as a call that took no time.
  void end(std::uint64_t ticks) { took_ = ticks; }

  const Trial& trial() const { return trial_; }

 private:
  static constexpr std::int64_t always = std::numeric_limits<std::int64_t>::max();

  // So many calls to come are Espalier's and not on trial. Below 0 while one that is, or that is the host's, begins.
  std::int64_t plain_ = 0;
  std::int64_t hosts_ = 0;  // so many are the host's
  bool is_measured_ = false;
  std::uint64_t took_ = 0;  // the last call on trial, in ticks
  Trial trial_;
};

}  // namespace espalier::runtime::guard
