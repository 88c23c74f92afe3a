// A rank's flag lines: what it has published, and what it has finished.
#pragma once

#include <algorithm>
#include <vector>

#include "machine/share_view.hpp"

namespace espalier::machine {

/// Models HasFlagLines, and the part of TakesSteps that concerns finished steps.
template <class Platform>
class FlagLines : public ShareView<Platform> {
  using Base = ShareView<Platform>;

 public:
  using Base::Base;
  using Base::rank;
  using Base::size;
  using typename Base::Line;

  void publish(Channel channel, Step step) { waiter_.signal(line(channel, rank(), step), step); }

  void publish_inline(Channel channel, Step step, const void* source, std::size_t bytes) {
    Line& own = line(channel, rank(), step);
    Platform::copy_small(own.payload, source, bytes);
    waiter_.signal(own, step);
  }

  void publish_for(int peer, Channel channel, Step step, const void* source, std::size_t bytes) {
    Line& theirs = line(channel, peer, step);
    Platform::copy_small(theirs.payload, source, bytes);
    waiter_.signal(theirs, step);
  }

  /// The first chunk of a block of so many bytes, of which only the reader and this rank know.
  void publish_block(Channel channel, Step step, std::size_t bytes) {
    waiter_.signal_block(line(channel, rank(), step), step, bytes);
  }
  /// Returns how long the block is: `expected`, or less. Throws if it is longer.
  std::size_t await_block(Channel channel, int peer, Step step, std::size_t expected) {
    return waiter_.await_block(line(channel, peer, step), step, peer, expected);
  }

  /// Of two ranks: the first line in which one shows what it sends the other, with how long both blocks are.
  void publish_pair(Channel channel, Step step, std::size_t out, std::size_t in) {
    waiter_.signal_pair(line(channel, rank(), step), step, {out, in});
  }
  PairLengths await_pair(Channel channel, int peer, Step step, const PairLengths& expected) {
    return waiter_.await_pair(line(channel, peer, step), step, peer, expected);
  }

  /// As await(). False: the peer has gone on without this step, and readers of it, of which this rank is one, would
  /// have held it up.
  bool await_exactly(Channel channel, int peer, Step step) {
    return waiter_.await_exactly(line(channel, peer, step), step, peer);
  }
  void compare_lengths(int peer, std::size_t sent, std::size_t expected) const {
    waiter_.compare_lengths(peer, sent, expected);
  }
  void refuse_length(int peer, std::size_t sent, std::size_t expected, bool own = false) const {
    waiter_.refuse_length(peer, sent, expected, own);
  }

  void await(Channel channel, int peer, Step step) { waiter_.await(line(channel, peer, step), step, peer); }

  bool published(Channel channel, int peer, Step step) { return reached(line(channel, peer, step), step); }

  const std::byte* inline_data(Channel channel, int peer, Step step) {
    return line(channel, peer, step).payload;
  }
  std::byte* inline_buffer(Channel channel, Step step) { return line(channel, rank(), step).payload; }

  void finish(Step step) { waiter_.signal(finish_line(rank()), step); }

  /// Waits until `peer` has finished `step`: then it reads nothing of that step any more.
  void await_finish(int peer, Step step) {
    Step& known = known_finished_[static_cast<std::size_t>(peer)];
    if (known >= step) return;
    Line& theirs = finish_line(peer);
    waiter_.await(theirs, step, peer);
    // The peer is usually far ahead: what it says now saves looks at its line, each of them a cache miss.
    // Acquire: its reads of all steps up to this one come before our next writes.
    known = theirs.step.load(std::memory_order_acquire);
  }

  bool finished(int peer, Step step) {
    if (known_finished(peer, step)) return true;
    // acquire: as in await_finish(). All that it says is noted, as there.
    note_finished(peer, finish_line(peer).step.load(std::memory_order_acquire));
    return known_finished(peer, step);
  }
  bool known_finished(int peer, Step step) const {
    return known_finished_[static_cast<std::size_t>(peer)] >= step;
  }
  void note_finished(int peer, Step step) {
    Step& known = known_finished_[static_cast<std::size_t>(peer)];
    known = std::max(known, step);
  }

 protected:
  using Base::finish_line;
  using Base::line;
  using Base::reached;
  using Base::waiter_;

 private:
  std::vector<Step> known_finished_ = std::vector<Step>(static_cast<std::size_t>(size()));  // by peer
};

}  // namespace espalier::machine
