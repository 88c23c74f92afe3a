// Which of two ways is quicker depends on the processor, so a communicator tries.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <limits>

namespace espalier::runtime {

/// Of two ways to do the same, the one that took less when both were last tried. Used by one thread at a
/// time.
template <class Clock = std::chrono::steady_clock>
class AdaptiveChoice {
 public:
  /// first() or second(). A try ends with over(), which returns when all that was begun is done.
  template <class First, class Second, class Over>
  void run(const First& first, const Second& second, const Over& over) {
    const bool is_try = rest_ == 0, by_second = is_try ? tried_ % 2 == 1 : prefers_second_;
    if (!is_try) --rest_;
    const auto begin = is_try ? Clock::now() : typename Clock::time_point();
    by_second ? second() : first();
    if (!is_try) return;
    over();
    note(by_second, Clock::now() - begin);
  }

  static constexpr int each = 5;        // tries of either way, in turns
  static constexpr int first_rest = 2;  // first calls meet fresh pages
  static constexpr int shortest_rest = 100, longest_rest = 12800;

 private:
  /// The least of each: whatever else goes on, such as ranks that come late, adds to a time.
  void note(bool second, std::chrono::duration<double> took) {
    double& least = least_[second];
    least = std::min(least, took.count());
    if (++tried_ < 2 * each) return;
    prefers_second_ = least_[1] < least_[0];
    least_.fill(std::numeric_limits<double>::max());
    tried_ = 0;
    rest_ = next_rest_;
    next_rest_ = std::min(2 * next_rest_, longest_rest);
  }

  bool prefers_second_ = false;
  int rest_ = first_rest;
  int next_rest_ = shortest_rest;
  int tried_ = 0;
  std::array<double, 2> least_ = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
};

/// One for each power of two of a size: what holds for one may not for another.
template <class Clock = std::chrono::steady_clock>
class AdaptiveChoices {
 public:
  template <class First, class Second, class Over>
  void run(std::size_t bytes, const First& first, const Second& second, const Over& over) {
    of(bytes).run(first, second, over);
  }

 private:
  static constexpr std::size_t sizes = 16;
  AdaptiveChoice<Clock>& of(std::size_t bytes) {
    constexpr std::size_t least = 4096;
    return ways_[std::min(static_cast<std::size_t>(std::bit_width(bytes / least)), sizes - 1)];
  }
  std::array<AdaptiveChoice<Clock>, sizes> ways_;
};

}  // namespace espalier::runtime
