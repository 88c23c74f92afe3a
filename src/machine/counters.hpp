// Counters that all ranks share: arrivals, and pieces of common work.
#pragma once

#include "machine/flag_lines.hpp"

namespace espalier::machine {

/// Models HasCounters.
template <class Platform>
class Counters : public FlagLines<Platform> {
  using Base = FlagLines<Platform>;

 public:
  using Base::Base;
  using typename Base::Line;

  bool arrive_last(Step step) {
    // The counter never goes back: after the n-th use its lower half stands at n * size, and its upper half
    // at the sum of all fingerprints, so that the last to arrive knows whether all came to the same call.
    // Release: what this rank wrote is visible to the last to arrive; acquire: the last sees what all wrote.
    const Step mine = 1 + (Step{waiter_.fingerprint()} << 32);
    const Step arrived = line_at(layout_.arrivals()).step.fetch_add(mine, std::memory_order_acq_rel) + mine;
    all_arrived_ += mine * static_cast<Step>(layout_.ranks);
    if (static_cast<std::uint32_t>(arrived) != static_cast<std::uint32_t>(all_arrived_)) return false;
    if (arrived != all_arrived_) [[unlikely]]
      waiter_.report_mistake(no_particular_rank);
    return true;
  }

  void release_all(Step step, const void* source, std::size_t bytes) {
    Line& common = line_at(layout_.common_release(step));
    Platform::copy_small(common.payload, source, bytes);
    waiter_.signal(common, step);
  }

  const std::byte* await_release_all(Step step) {
    Line& common = line_at(layout_.common_release(step));
    waiter_.await(common, step, no_particular_rank);
    return common.payload;
  }

  bool released_all(Step step) { return reached(line_at(layout_.common_release(step)), step); }

  int take_piece(Step step, int count) {
    // relaxed: a rank that comes here has heard from all ranks (acquire), so it sees at least the counts of
    // the steps before, and what it reads and writes for its piece is ordered by that, too.
    auto& taken = line_at(layout_.pieces()).step;
    const Step pieces = static_cast<Step>(count);
    Step next = taken.load(std::memory_order_relaxed);
    while (next < step * pieces)
      if (taken.compare_exchange_weak(next, next + 1, std::memory_order_relaxed, std::memory_order_relaxed))
        return static_cast<int>(next - (step - 1) * pieces);
    return -1;
  }

  bool piece_done_last(Step step, int count) {
    // The counter never goes back. Release: this piece is written before it counts; acquire: the last to
    // count sees all of them, and says so for all.
    const Step done = line_at(layout_.arrivals()).step.fetch_add(1, std::memory_order_acq_rel) + 1;
    return done == step * static_cast<Step>(count);
  }

 protected:
  using Base::layout_;
  using Base::line_at;
  using Base::reached;
  using Base::waiter_;

 private:
  static constexpr int no_particular_rank = -1;

  Step all_arrived_ = 0;  // where the counter of arrivals stands once all have come
};

}  // namespace espalier::machine
