// Flag lines that lie elsewhere than in the share: in buffers that ranks give each other.
#pragma once

#include "machine/counters.hpp"

namespace espalier::machine {

/// Models HasPlacedLines. A place is aligned as a FlagLine, in memory that all ranks of the machine share.
template <class Platform>
class PlacedLines : public Counters<Platform> {
  using Base = Counters<Platform>;

 public:
  using Base::Base;
  using typename Base::Line;

  /// The line of a rank, as a place.
  std::byte* place_of(Channel channel, int peer, Step step) {
    return reinterpret_cast<std::byte*>(&line(channel, peer, step));
  }

  // relaxed, all of it: no other rank knows of the line before this one publishes where it is.
  void clear_line(std::byte* place) {
    Line& fresh = placed(place);
    fresh.step.store(0, std::memory_order_relaxed);
    fresh.sleepers.store(0, std::memory_order_relaxed);
    fresh.fingerprint.store(0, std::memory_order_relaxed);
  }

  void signal_at(std::byte* place, Step step) { waiter_.signal(placed(place), step); }
  void await_at(std::byte* place, Step step, int peer) { waiter_.await(placed(place), step, peer); }
  bool reached_at(std::byte* place, Step step) { return reached(placed(place), step); }

  /// What the line says of its writer's call, whose step this rank has seen there.
  Fingerprint said(Channel channel, int peer, Step step) {
    // relaxed: it was written before the step, which was read with acquire.
    return line(channel, peer, step).fingerprint.load(std::memory_order_relaxed);
  }
  void report_mistake(int peer) const { waiter_.report_mistake(peer); }

  /// As take_piece() and piece_done_last(), of work that is done once; the line was cleared before.
  int take_piece_at(std::byte* place, int count) {
    // relaxed: who comes here has heard from the rank that cleared the line (acquire). A look first, since
    // ranks come by again and again when all pieces are taken.
    auto& taken = placed(place).step;
    const auto pieces = static_cast<Step>(count);
    if (taken.load(std::memory_order_relaxed) >= pieces) return -1;
    const Step piece = taken.fetch_add(1, std::memory_order_relaxed);
    return piece < pieces ? static_cast<int>(piece) : -1;
  }
  bool piece_done_last_at(std::byte* place, int count) {
    // Release: this piece is written before it counts; acquire: the last to count sees all of them.
    return placed(place).step.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<Step>(count);
  }

 protected:
  using Base::line;
  using Base::reached;
  using Base::waiter_;

 private:
  static Line& placed(std::byte* place) { return *reinterpret_cast<Line*>(place); }
};

}  // namespace espalier::machine
