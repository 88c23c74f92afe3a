// How far a rank has come in the calls of a communicator.
#pragma once

#include <cstdint>

namespace espalier::runtime::across {

/// How many calls of each kind it has begun: blocking ones, nonblocking ones, and `_init` calls of persistent ones.
struct Position {
  std::uint64_t blocking = 0, nonblocking = 0, prepared = 0;

  bool is_behind(const Position& other) const {
    return blocking <= other.blocking && nonblocking <= other.nonblocking && prepared <= other.prepared;
  }
};

/// Ranks begin the calls of all kinds in one order. So of two ranks one is behind in every kind, or level.
inline bool are_in_one_order(const Position& a, const Position& b) {
  return a.is_behind(b) || b.is_behind(a);
}

}  // namespace espalier::runtime::across
