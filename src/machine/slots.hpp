// The steps that ranks take, and the slots of a rank's ring in which the data of a step lie.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "machine/pairwise_buffers.hpp"
#include "machine/prefetch_hints.hpp"

namespace espalier::machine {

/// Models TakesSteps and HasSlots.
template <class Platform>
class Slots : public PairwiseBuffers<Platform> {
  using Base = PairwiseBuffers<Platform>;

 public:
  using Base::await;
  using Base::await_block;
  using Base::await_finish;
  using Base::Base;
  using Base::pairwise_cell;
  using Base::publish;
  using Base::publish_block;
  using Base::publish_for;
  using Base::rank;
  using typename Base::Line;

  int slots() const { return layout_.slots; }
  std::size_t slot_bytes() const { return layout_.slot_bytes; }

  /// The next step; with `span` > 1 (a power of two, at most slots()) the first of `span` steps whose slots
  /// are contiguous. The step that is published and finished is always the last one. `bytes` is the most that
  /// lies there, on all ranks alike, where all of them know it.
  Steps advance(int span = 1, std::size_t bytes = std::numeric_limits<std::size_t>::max()) {
    const auto width = static_cast<Step>(span);
    const Step first = (last_step_ + width) & ~(width - 1);
    last_step_ = first + width - 1;
    return {.first = first, .span = span, .split = static_cast<std::uint8_t>(layout_.split_for(bytes))};
  }

  /// For calls in which no rank knows how many steps the others need: a range of which each uses as many as
  /// it wants, `span` slots a step, from `first` on. All ranks finish `last`. `bytes` as for advance(). The
  /// slots go on from half the ring beyond where one step would have led: so calls of many steps in a row do
  /// not meet in slots that are still in the readers' caches, and short ones come by all slots in turn.
  StepRange advance_open(int span, std::size_t bytes) {
    const Steps begin = advance(span, bytes);
    last_step_ += open_steps + static_cast<Step>(slots() >= 4 * span ? slots() / 2 : 0);
    return {begin, last_step_};
  }

  void all_finished(Step step) { all_finished_ = step; }

  /// To messages of more than half a slot, up to two: shorter and longer ones lose in a short ring
  /// (docs/performance.md).
  Steps with_short_ring(Steps steps, std::size_t message) const {
    steps.may_be_short = steps.span == 1 && layout_.short_slots() > 0 && 2 * message > slot_bytes() &&
                         message <= 2 * slot_bytes();
    return steps;
  }

  Steps reserve(Steps steps) {
    if (steps.may_be_short) [[unlikely]] {
      steps.in_short_ring = ring_choice_.next();
      if (steps.in_short_ring) reclaim(slot_readers_[layout_.index_among_first(steps.first)]);
    }
    for (Step step = steps.first; step <= steps.last(); ++step) reclaim(slot_readers_[layout_.index(step)]);
    if (steps.buffers != Buffers::ring) reclaim(pairwise_away_[pairwise_round(steps).number]);
    return steps;
  }

  void set_readers(const Steps& steps, std::span<const int> readers) {
    const Step last = steps.last();
    for (Step step = steps.first; step <= last; ++step) slot_readers_[layout_.index(step)] = {last, readers};
    // Both: the line of the step is where it would have been.
    if (steps.in_short_ring) [[unlikely]]
      slot_readers_[layout_.index_among_first(steps.first)] = {last, readers};
    if (steps.buffers != Buffers::ring) pairwise_away_[pairwise_round(steps).number] = {last, readers};
  }

  void publish(Channel channel, const Steps& steps) { announce(line(channel, rank(), steps.last()), steps); }
  void publish_for(int peer, Channel channel, const Steps& steps) {
    announce(line(channel, peer, steps.last()), steps);
  }
  void publish_block(Channel channel, const Steps& steps, std::size_t bytes) {
    Line& own = line(channel, rank(), steps.last());
    say_ring(own, steps);
    waiter_.signal_block(own, steps.last(), bytes);
  }
  Steps await(Channel channel, int peer, Steps steps) {
    Line& theirs = line(channel, peer, steps.last());
    waiter_.await(theirs, steps.last(), peer);
    return found(theirs, steps);
  }
  /// What await() would give of a line that await_block() has awaited.
  Steps found(Channel channel, int peer, Steps steps) {
    return found(line(channel, peer, steps.last()), steps);
  }
  /// The step that is published for the first chunk of a message in which advance() gives so many slots.
  Step next_step(int span = 1) const {
    const auto width = static_cast<Step>(span);
    return ((last_step_ + width) & ~(width - 1)) + width - 1;
  }
  std::byte* slot(int peer, const Steps& steps) {
    if (steps.buffers == Buffers::pairwise_slots) return pairwise_cell(peer, 1 - peer, steps);
    return home(peer).ring + (steps.in_short_ring
                                  ? layout_.index_among_first(steps.first) * layout_.slot_bytes
                                  : layout_.slot_in_ring(steps.first, steps.split));
  }

  /// Where it helps past this core's caches, which would have to take the slot's lines back from their
  /// readers.
  void write_slot(void* target, const void* source, std::size_t bytes, const void* read_next = nullptr) {
    if (bytes > 0) unsettled_ |= slot_writer_.copy(target, source, bytes, read_next);
  }
  /// Into the slots of these steps: how long it takes may say which ring is better.
  void write_slot(const Steps& steps, void* target, const void* source, std::size_t bytes) {
    if (!steps.may_be_short || bytes == 0) return write_slot(target, source, bytes);
    unsettled_ |=
        ring_choice_.timed(bytes, [&] { return slot_writer_.copy(target, source, bytes, nullptr); });
  }

  /// What was streamed is ordered before what follows; what was not is moved to where readers find it sooner.
  void flush_for_readers(const void* data, std::size_t bytes) {
    if (std::exchange(unsettled_, false)) return Platform::settle_streams();
    hints::hand_over(data, bytes);
  }

 protected:
  using Base::home;
  using Base::layout_;
  using Base::line;
  using Base::pairwise_round;
  using Base::waiter_;

  Step last_step() const { return last_step_; }

 private:
  struct SlotReaders {
    Step step = 0;
    std::span<const int> readers;
  };

  void announce(Line& flag, const Steps& steps) {
    say_ring(flag, steps);
    waiter_.signal(flag, steps.last());
  }
  // Says which ring the data are in, where the writer could choose.
  void say_ring(Line& flag, const Steps& steps) {
    if (steps.may_be_short) [[unlikely]]
      Platform::copy_small(flag.payload, &steps.in_short_ring, sizeof steps.in_short_ring);
  }
  Steps found(const Line& theirs, Steps steps) const {
    if (steps.may_be_short) [[unlikely]]
      Platform::copy_small(&steps.in_short_ring, theirs.payload, sizeof steps.in_short_ring);
    return steps;
  }

  void reclaim(SlotReaders& held) {
    if (held.step <= all_finished_) return;
    for (const int reader : held.readers) await_finish(reader, held.step);
    held.step = 0;
  }

  Step last_step_ = 0;
  Step all_finished_ = 0;
  std::vector<SlotReaders> slot_readers_ = std::vector<SlotReaders>(static_cast<std::size_t>(slots()));
  std::array<SlotReaders, 4> pairwise_away_;
  typename Platform::SlotWriter slot_writer_;
  typename Platform::RingChoice ring_choice_;
  bool unsettled_ = false;  // what was written is not ordered before a flag yet
};

}  // namespace espalier::machine
