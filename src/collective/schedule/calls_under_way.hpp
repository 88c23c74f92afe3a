// All nonblocking collectives that are under way on a communicator, on one rank.
//
// MPI has the ranks call collectives on a communicator in one order, so each comes to the same number for a
// call by itself. The number is a step of a machine: call n has the flag lines of step n, which call
// n + slots() uses next. A start waits for no rank: where its line, or memory for its data, is not free yet,
// the rank gives its data later, in any call in which it looks at its requests or waits.
#pragma once

#include <deque>
#include <utility>

#include "collective/schedule/call_under_way.hpp"
#include "collective/schedule/given_buffers.hpp"

namespace espalier::collective {

/// Used by one thread at a time.
template <class M, class Memory>
class CallsUnderWay {
 public:
  /// `base`, `memory`: as in give_data(), GivenBuffers. `log2_chunk`: no chunk ends within an element.
  CallsUnderWay(M& machine, std::byte* base, Memory memory, int log2_chunk = 15)
      : m_(machine), base_(base), log2_chunk_(log2_chunk), buffers_(memory) {}

  /// The next call of the communicator, whose spec is there. It lies still until it is done.
  void start(CallUnderWay& call) {
    call.number = m_.advance(1).last();
    in_order_.push_back({call.number, &call});
    if (unpublished_ > 0 || !publish(call)) ++unpublished_;
  }

  /// Takes what has come for a call; true: it is done. Waits for no rank.
  bool advance(CallUnderWay& call) {
    if (!call.done && !call.published)
      advance_all();  // those before it may hold what it needs
    else if (!call.done && take(call))
      finish_in_order();
    return call.done;
  }

  /// The same for all calls that no rank sleeps for, the oldest first: what others need of this rank does not depend on which of them
  /// the program asks for.
  void advance_all() {
    bool may_publish = true;  // in order: see publish()
    for (std::size_t i = 0; i < in_order_.size(); ++i) {
      CallUnderWay* const call = in_order_[i].call;
      if (!call || call->awaited) continue;
      if (!call->published) {
        may_publish = may_publish && publish(*call);
        if (!may_publish) continue;
        --unpublished_;
      }
      take(*call);
    }
    finish_in_order();
  }

  /// The program gives up a call that is not done: the ranks are out of step.
  void forget(const CallUnderWay& call) {
    for (Started& each : in_order_)
      if (each.call == &call) each.call = nullptr;
    if (!call.published) --unpublished_;
  }

  bool is_empty() const { return in_order_.empty(); }
  /// Whether a start still has to give its data.
  bool has_unpublished() const { return unpublished_ > 0; }
  GivenBuffers<Memory>& buffers() { return buffers_; }

 private:
  /// A rank gives its data in the order of the calls: a line belongs to the older call first, and so does
  /// memory, because the others finish the younger call only after it. Hence, of all starts that wait for
  /// memory anywhere, the one with the lowest number waits for calls alone that all ranks can finish.
  bool publish(CallUnderWay& call) {
    const auto lines = static_cast<Step>(m_.slots());
    if (call.number > lines)
      for (int rank = 0; rank < m_.size(); ++rank)  // this one, too: it may read its own line
        if (!m_.finished(rank, call.number - lines)) return false;
    std::byte* buffer = nullptr;
    if (const std::size_t bytes = buffer_bytes(call.spec, m_.size()); bytes > 0) {
      buffer = buffers_.take(m_, bytes, call.number);
      if (!buffer) return false;
    }
    m_.begin_call(call.fingerprint);
    give_data(m_, call.spec, call.number, base_, buffer, log2_chunk_);
    call.published = true;
    return true;
  }

  bool take(CallUnderWay& call) {
    call.done = take_what_came(m_, call, base_);
    if (call.done) in_order_[static_cast<std::size_t>(call.number - in_order_.front().number)].call = nullptr;
    return call.done;
  }

  /// Others hear of a call when this rank has finished all calls before it, too: one line says it then.
  void finish_in_order() {
    Step finished = 0;
    for (; !in_order_.empty() && !in_order_.front().call; in_order_.pop_front())
      finished = in_order_.front().number;
    if (finished > 0) m_.finish(finished);
  }

  struct Started {
    Step number;
    CallUnderWay* call;  ///< nullptr: it is done
  };

  M& m_;
  std::byte* base_;
  int log2_chunk_;
  GivenBuffers<Memory> buffers_;
  std::deque<Started> in_order_;  // the first one is not done
  std::size_t unpublished_ = 0;
};

}  // namespace espalier::collective
