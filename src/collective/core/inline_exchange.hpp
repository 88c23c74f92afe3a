// Exchanges of messages so short that all of a rank's data ride in its flag line: one flag exchange.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/meeting.hpp"

namespace espalier::collective {

/// One step, in which every rank fills its line, announces it, and reads the lines of others. Those who use
/// it are to be compiled in one piece ([[gnu::flatten]]): it is most of what such a call takes.
template <Machine M>
class InlineExchange {
 public:
  InlineExchange(M& m, const Plan& plan) : m_(m), meeting_(m, plan), steps_(m.advance(1)) {
    m.reserve(steps_);
  }

  /// To be filled before announce().
  std::byte* own_line() { return m_.inline_buffer(Channel::gather, steps_.last()); }
  void announce(std::span<const int> readers) {
    meeting_.announce(steps_.last());
    m_.set_readers(steps_, readers);
  }
  /// What `peer` has announced, once it is there.
  const std::byte* line_of(int peer) {
    meeting_.await(peer, steps_.last());
    return m_.inline_data(Channel::gather, peer, steps_.last());
  }
  /// `heard_from_all`: this rank has had the line of every other.
  void finish(bool heard_from_all) {
    if (heard_from_all || meeting_.is_central()) m_.all_finished(steps_.first - 1);
    m_.finish(steps_.last());
    if (!meeting_.is_central()) m_.prefetch_own_line(Channel::gather);
  }

 private:
  M& m_;
  Meeting<M> meeting_;
  Steps steps_;
};

/// A rank's blocks for the others, one after the other in its line, in rank order.
template <Machine M, class B>
void write_others(M& m, std::byte* line, const void* send, const B& blocks) {
  for (int peer = 0; peer < m.size(); ++peer) {
    if (peer == m.rank()) continue;
    m.copy(line, at(send, blocks.offset_of(peer)), blocks.bytes_of(peer));
    line += blocks.bytes_of(peer);
  }
}

}  // namespace espalier::collective
