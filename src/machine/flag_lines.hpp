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
