// How much of its ring a rank writes messages into that go one way, where both lengths have their merits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace espalier::memory {

/// The slots of a short ring stay in the caches of those who use them; those of a long one leave them where a
/// program does other things, too, and are fetched from further away then. But what stays has to be taken
/// back from its reader, which takes next to nothing on one processor, and longer than all else on another,
/// or where the cores are far from each other (docs/performance.md). So the writer times a copy now and then,
/// and leaves the short ring for a while where lines come back slowly. Used by one thread at a time.
template <class Clock = std::chrono::steady_clock>
class RingChoice {
 public:
  /// Whether the next copy goes to the short ring.
  bool next() {
    is_short_ = to_long_ == 0;
    if (!is_short_) --to_long_;
    return is_short_;
  }

  /// Runs copy() of so many bytes, as next() had it; returns its result: whether it went past the caches,
  /// since lines had come slowly.
  template <class Copy>
  bool timed(std::size_t bytes, const Copy& copy) {
    if (!is_short_ || until_look_-- > 0) return copy();
    const auto begin = Clock::now();
    const bool streamed = copy();
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    constexpr std::size_t line = 64;
    const std::size_t lines = bytes / line;
    judge(streamed || took.count() > most_ns_a_line * static_cast<double>(lines));
    return streamed;
  }

  static constexpr int look_at_one_of = 16;
  static constexpr int first_look = 16;  // others have had the lines meanwhile
  static constexpr int shortest_absence = 256, longest_absence = 4096;
  // On an EPYC that gains by a short ring near 0.5 to 1.1, far 1.2 to 2; on one that loses by it 10.
  static constexpr double most_ns_a_line = 1.25;

 private:
  /// Twice in a row, for one copy alone may have been disturbed.
  void judge(bool slow) {
    if (slow && !was_slow_) {
      until_look_ = 0;
    } else if (slow) {
      until_look_ = first_look;
      to_long_ = absence_;
      absence_ = std::min(2 * absence_, longest_absence);
    } else {
      until_look_ = look_at_one_of - 1;
      absence_ = shortest_absence;
    }
    was_slow_ = slow && !was_slow_;
  }

  bool is_short_ = false;
  bool was_slow_ = false;
  int until_look_ = first_look;
  int to_long_ = 0;
  int absence_ = shortest_absence;
};

}  // namespace espalier::memory
