// Who knows what: vector clocks, and which of a flag's values a rank may still read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace espalier::simulation::checker {

inline constexpr int most_ranks = 8;
inline constexpr std::size_t most_flags = 320;

/// Per rank: what it had done when the rank that holds this clock last heard of it. `a happens before b` when
/// b's clock covers a's time.
struct Clock {
  std::array<std::uint32_t, most_ranks> of{};

  std::uint32_t& operator[](int rank) { return of[static_cast<std::size_t>(rank)]; }
  std::uint32_t operator[](int rank) const { return of[static_cast<std::size_t>(rank)]; }
  void join(const Clock& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = std::max(of[i], other.of[i]);
  }
};

/// Per flag: the oldest of its values that may still be read.
struct Seen {
  std::array<std::uint16_t, most_flags> of{};

  void join(const Seen& other, std::size_t flags) {
    for (std::size_t i = 0; i < flags; ++i) of[i] = std::max(of[i], other.of[i]);
  }
};

/// A rank and its time in one number; 0: never.
class Moment {
 public:
  Moment() = default;
  Moment(int rank, std::uint32_t time) : packed_(static_cast<std::uint32_t>(rank) << bits | time) {}
  int rank() const { return static_cast<int>(packed_ >> bits); }
  std::uint32_t time() const { return packed_ & ((1u << bits) - 1); }
  bool is_never() const { return packed_ == 0; }
  bool is_before(const Clock& clock) const { return clock[rank()] >= time(); }
  bool operator==(const Moment&) const = default;

 private:
  static constexpr int bits = 28;
  std::uint32_t packed_ = 0;
};

}  // namespace espalier::simulation::checker
