// When a communicator's ranks ask each other whether they have buffers that can be read in place.
#pragma once

#include <algorithm>

namespace espalier::runtime {

/// Whether long calls of one collective take the way on which buffers are read where they lie. That takes all
/// ranks and a round of messages to learn that all can, which in a program without such buffers would be for
/// nothing. So after a call in which a rank could not, so many pass without a question: 0, 1, 3, 7, ...
/// Where all could, the next call asks again. All ranks count the same calls and learn the same answers, so
/// they agree without a word.
class ZeroCopyBackoff {
 public:
  /// Whether this call asks. Every call says what it learned.
  bool asks() {
    if (passing_ == 0) return true;
    --passing_;
    return false;
  }
  bool learn(bool all_expose) {
    passing_ = all_expose ? 0 : next_;
    next_ = all_expose ? 0 : std::min(2 * next_ + 1, most);
    return all_expose;
  }

 private:
  static constexpr int most = 1023;
  int passing_ = 0;  // calls that do not ask
  int next_ = 0;
};

}  // namespace espalier::runtime
