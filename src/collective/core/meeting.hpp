// How ranks learn that the others' data of a step lie ready: by a flag of each, or by one counter.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// Until all have come: every rank sets its flag and looks at all others'. These carry nothing and so wait for no
/// reader of the line's former step. Therefore they are release lines: on a gather line a slow rank may still look for
/// the length of a block, and must find no later step there (FlagLines::publish_block()).
template <Machine M>
[[gnu::always_inline]] inline void meet_by_flags(M& m, Step step) {
  m.publish(Channel::release, step);
  for (const int peer : m.other_ranks()) m.await(Channel::release, peer, step);
}

/// `exchange`: every rank sets its flag and looks at those of the ranks that it reads from. `central`: the
/// last to arrive releases all, so a rank that waits is switched in once, which is what counts with more
/// ranks than cores.
template <Machine M>
class Meeting {
 public:
  Meeting(M& m, const Plan& plan) : Meeting(m, plan.algorithm == plan::Algorithm::central) {}
  static Meeting by_counter(M& m) { return Meeting(m, true); }

  static constexpr bool may_shorten = false;
  bool is_central() const { return central_; }

  /// This rank has written its slot and line of `step`. By counter, also waits for all other ranks.
  void announce(Step step) {
    if (central_)
      arrive(step);
    else
      m_.publish(Channel::gather, step);
  }
  /// This rank has written nothing for other ranks at `step`. A counter still has to count it.
  void announce_nothing(Step step) {
    if (central_) arrive(step);
  }
  /// Until all ranks have come, with nothing written in lines or slots.
  void meet(Step step) { central_ ? arrive(step) : meet_by_flags(m_, step); }
  /// By counter only: announces, and returns on all ranks what number() gives on the last rank to arrive.
  /// There it can read what all ranks have written.
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
  /// Waits until what `peer` has announced is visible. By counter, announce() has waited already.
  void await(int peer, Step step) {
    if (!central_) m_.await(Channel::gather, peer, step);
  }
  /// The same. False: the peer has announced nothing at `step`, of which this rank would be a reader.
  bool await_exactly(int peer, Step step) {
    return central_ || m_.await_exactly(Channel::gather, peer, step);
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
