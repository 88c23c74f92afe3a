// ESPALIER_GUARD: calls whose result does not depend on who serves them are tried by the host, too, and are the host's where
// it is faster (docs/guard.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "base/collective.hpp"
#include "mpi/abi/abi.hpp"
#include "runtime/guard/trial.hpp"

namespace espalier::mpi::guard {

using runtime::guard::Server;
using runtime::guard::Trial;

/// Whether any calls are tried. Constant after begin().
inline bool is_on = false;
/// Reads the settings. Before there are communicators.
void begin();

/// All calls of a collective on a communicator that move as many bytes, up to the next power of two. Ranks may describe
/// their part of a call by different datatypes, so what they count alike is counted here.
struct Kind {
  std::uint64_t calls = 0;
  std::uint64_t plain_until = 0;  ///< calls before this one are Espalier's, and not on trial
  std::uint64_t next_trial = 0;   ///< begins with this one
  Trial trial;
  std::size_t bytes = 0;  ///< of some call
  std::string why_host = Trial::tries_host;

  /// After a trial.
  void settle() {
    const std::uint32_t pause = trial.calls_until_next();
    next_trial = pause != 0 ? calls + pause : std::numeric_limits<std::uint64_t>::max();
    plain_until = trial.server() == Server::espalier ? next_trial : 0;
  }
  void begin_again() {
    plain_until = 0;
    trial.begin_again();
  }
};

/// What tells kinds apart, of one call: the number of elements, where all ranks know it, their type, and what reduces them.
struct CallLength {
  Collective collective{};
  MPI_Count count = 0;
  Handle type = 0, op = 0;
  bool operator==(const CallLength&) const = default;
};

/// Of one communicator.
class Kinds {
 public:
  /// Null, on all ranks alike: the result may depend on who serves the call.
  Kind* find(const CallLength& length) {
    const Known& known = known_[slot(length)];
    return known.is_there && known.length == length ? known.kind : look_up(length);
  }

  Kind* on_trial = nullptr;  ///< of the call that is under way
  std::uint64_t began = 0;   ///< it, in ticks

 private:
  /// Of a predefined type, whose handle never means another.
  struct Known {
    CallLength length;
    bool is_there = false;
    Kind* kind = nullptr;
  };
  static constexpr int slot_bits = 5;
  static std::size_t slot(const CallLength& length) {
    const auto text =
        static_cast<std::uint64_t>(length.count) << 8 | static_cast<std::uint64_t>(length.collective);
    return (text * 0x9E3779B97F4A7C15u) >> (64 - slot_bits);
  }
  Kind* look_up(const CallLength& length);

  std::map<unsigned, Kind> kinds_;
  std::array<Known, 1 << slot_bits> known_{};
};

}  // namespace espalier::mpi::guard
