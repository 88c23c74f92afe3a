// Flag lines that lie elsewhere than in the share: in buffers that ranks give each other.
#pragma once

#include <optional>

#include "machine/agreed.hpp"
#include "machine/counters.hpp"
#include "machine/prefetch_hints.hpp"

namespace espalier::machine {

/// Models HasPlacedLines. A place is aligned as a FlagLine, in memory that all ranks of the machine share.
template <class Platform>
class PlacedLines : public Counters<Platform> {
  using Base = Counters<Platform>;

 public:
  using Base::Base;
  using typename Base::Line;

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
  void prefetch_own_at(std::byte* place, std::size_t bytes) { hints::own_lines(place, bytes); }

  /// Data that ride in the line.
  std::byte* payload_at(std::byte* place) { return placed(place).payload; }

  /// What the line says of its writer's call, whose step this rank has seen there.
  Fingerprint said_at(std::byte* place) {
    // relaxed: it was written before the step, which was read with acquire.
    return placed(place).fingerprint.load(std::memory_order_relaxed);
  }
  void report_mistake(int peer) const { waiter_.report_mistake(peer); }

  Agreed agree_at(std::byte* place, Step turn, std::uint64_t value) {
    auto& word = placed(place).step;
    const Step mine = Agreed::word(turn, value);
    // Release: what the rank that decides has made ready comes before its word. Acquire, for the others: with
    // that.
    Step seen = word.load(std::memory_order_acquire);
    while (!Agreed::is_said(seen, turn))
      if (word.compare_exchange_weak(seen, mine, std::memory_order_release, std::memory_order_acquire))
        return {value, true};
    return {Agreed::value_in(seen), false};
  }
  std::optional<std::uint64_t> agreed_at(std::byte* place, Step turn) {
    const Step seen = placed(place).step.load(std::memory_order_acquire);  // as in agree_at()
    return Agreed::is_said(seen, turn) ? std::optional(Agreed::value_in(seen)) : std::nullopt;
  }
  /// Before agree_at() with a value that takes time to make. False: another rank is making one, or has said it.
  bool claim_at(std::byte* place, Step turn) {
    // relaxed, all of it: a hint, with which nothing is handed over.
    auto& word = placed(place).step;
    Step seen = word.load(std::memory_order_relaxed);
    return !Agreed::is_of(seen, turn) &&
           word.compare_exchange_strong(seen, Agreed::word(turn, Agreed::claimed), std::memory_order_relaxed,
                                        std::memory_order_relaxed);
  }
  /// What the rank that has claimed says, if it says it within so many looks: it may be off its core, or dead.
  std::optional<std::uint64_t> agreed_soon_at(std::byte* place, Step turn, int looks) {
    for (int i = 1; i < looks; ++i) {
      if (const auto said = agreed_at(place, turn)) return said;
      Platform::pause();
    }
    return agreed_at(place, turn);
  }

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
  using Base::reached;
  using Base::waiter_;

 private:
  static Line& placed(std::byte* place) { return *reinterpret_cast<Line*>(place); }
};

}  // namespace espalier::machine
