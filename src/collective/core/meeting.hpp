// How ranks learn that the others' data of a step lie ready: by a flag of each, or by one counter.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// `exchange`: every rank sets its flag and looks at those of whom it reads. `central`: the last to arrive
/// releases all, so a rank that waits is switched in once, which is what counts with more ranks than cores.
template <Machine M>
class Meeting {
 public:
  Meeting(M& m, const Plan& plan) : Meeting(m, plan.algorithm == plan::Algorithm::central) {}
  static Meeting by_counter(M& m) { return Meeting(m, true); }

  bool is_central() const { return central_; }

  /// This rank's slot and line of `step` are written.
  void announce(Step step) {
    if (central_)
      arrive(step);
    else
      m_.publish(Channel::gather, step);
  }
  /// Nothing of this rank's is there at `step` for other ranks; only a counter must hear of it.
  void announce_nothing(Step step) {
    if (central_) arrive(step);
  }
  /// By counter only: announces, and all get the number that the last to arrive makes of what all have shown.
  template <class Number>
  std::uint32_t agree(Step step, Number number) {
    std::uint32_t result;
    if (m_.arrive_last(step)) {
      result = number();
      m_.release_all(step, &result, sizeof result);
    } else {
      std::memcpy(&result, m_.await_release_all(step), sizeof result);
    }
    return result;
  }
  /// Until what `peer` announced is visible.
  void await(int peer, Step step) {
    if (!central_) m_.await(Channel::gather, peer, step);
  }

 private:
  Meeting(M& m, bool central) : m_(m), central_(central) {}
  void arrive(Step step) {
    if (m_.arrive_last(step))
      m_.release_all(step, nullptr, 0);
    else
      m_.await_release_all(step);
  }

  M& m_;
  bool central_;
};

}  // namespace espalier::collective
