// How two ranks meet that exchange blocks of which each knows the lengths for itself.
#pragma once

#include <algorithm>
#include <utility>

#include "collective/core/meeting.hpp"

namespace espalier::collective {

namespace detail {

/// Of two ranks: whether those whose longer blocks are so long find each other's data: in the lines, or in one round of
/// pairwise slots.
template <Machine M>
bool go_same_way(const M& m, const Plan& plan, std::size_t mine, std::size_t theirs) {
  if (rides_inline(mine, plan) || rides_inline(theirs, plan))
    return rides_inline(mine, plan) && rides_inline(theirs, plan);
  const std::size_t one_round = std::min(plan.chunk, m.pairwise_bytes());
  return mine <= one_round && theirs <= one_round;
}

/// The peer names other lengths. Returns how much comes in; throws if that does not go.
template <Machine M>
[[gnu::cold, gnu::noinline]] std::size_t shortened(M& m, const Plan& plan, int peer, std::size_t out,
                                                   std::size_t in, const machine::PairLengths& theirs) {
  const bool same = go_same_way(m, plan, std::max(out, in), std::max<std::size_t>(theirs.out, theirs.in));
  if (theirs.out > in || (!same && theirs.out != in)) m.refuse_length(peer, theirs.out, in);
  if (!same) m.refuse_length(peer, out, theirs.in, true);
  return theirs.out;
}

}  // namespace detail

/// Of two ranks: waits for the first line of the other, and returns how much comes in: `in`, or less.
template <Machine M>
std::size_t await_lengths(M& m, const Plan& plan, int peer, Step step, std::size_t out, std::size_t in) {
  const machine::PairLengths theirs = m.await_pair(Channel::gather, peer, step, {in, out});
  if (theirs.out == in && theirs.in == out) [[likely]]
    return in;
  return detail::shortened(m, plan, peer, out, in, theirs);
}

/// As Meeting by flags. The first line of each says what both blocks are long, as its writer sees it, and await() there
/// shortens `in` where the other sends less.
template <Machine M>
class CountedMeeting {
 public:
  static constexpr bool may_shorten = true;
  CountedMeeting(M& m, const Plan& plan, std::size_t out, std::size_t& in)
      : m_(m), plan_(plan), out_(out), in_(in) {}

  static constexpr bool is_central() { return false; }
  void announce(Step step) {
    if (std::exchange(first_shown_, false))
      m_.publish_pair(Channel::gather, step, out_, in_);
    else
      m_.publish(Channel::gather, step);
  }
  void announce_nothing(Step) { first_shown_ = false; }
  void await(int peer, Step step) {
    if (!std::exchange(first_awaited_, false)) return m_.await(Channel::gather, peer, step);
    in_ = await_lengths(m_, plan_, peer, step, out_, in_);
  }

 private:
  M& m_;
  const Plan& plan_;
  std::size_t out_;
  std::size_t& in_;
  bool first_shown_ = true, first_awaited_ = true;
};

}  // namespace espalier::collective
