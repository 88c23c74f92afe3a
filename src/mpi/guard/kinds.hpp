// ESPALIER_GUARD: calls whose result does not depend on who serves them are tried by the host, too, and are the host's where
// it is faster (docs/guard.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/collective.hpp"
#include "mpi/abi/abi.hpp"
#include "runtime/guard/turns.hpp"

namespace espalier::mpi::guard {

using runtime::guard::Server;
using runtime::guard::Turns;

/// Whether any calls are tried. Constant after begin().
inline bool is_on = false;
/// Reads the settings. Before there are communicators.
void begin();

/// All calls of a collective on a communicator that move as many bytes, up to the next power of two. Ranks may describe
/// their part of a call by different datatypes, so what they count alike is counted here.
struct Kind {
  Turns turns;
  std::size_t bytes = 0;  ///< of some call
  std::string why_host = runtime::guard::Trial::tries_host;
};

/// What tells the kinds of a collective apart, of one call: the number of elements, where all ranks know it, their type, and
/// what reduces them.
struct CallLength {
  MPI_Count count = 0;
  Handle type = 0, op = 0;
  bool operator==(const CallLength&) const = default;
};

/// Of one communicator.
class Kinds {
 public:
  /// `host_may_serve`: else all calls are plain.
  explicit Kinds(bool host_may_serve);
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;

  /// Calls whose result may depend on who serves them are of a kind, too: one without trials. All that is looked at of most
  /// calls: whether the last one of the collective was such a one.
  template <Collective collective>
  Kind& find(const CallLength& length) {
    constexpr bool reduces = traits(collective).reduces;
    const Known& last = last_[static_cast<std::size_t>(collective)];
    if (last.length.count == length.count && last.length.type == length.type &&
        (!reduces || last.length.op == length.op)) [[likely]]
      return *last.kind;
    return find_other(collective, length.count, length.type, length.op);
  }
  /// Barriers, and blocks whose lengths a rank does not know of the others, are all of one kind.
  template <Collective collective>
  Kind& find() {
    return *last_[static_cast<std::size_t>(collective)].kind;
  }

  Kind* measured = nullptr;  ///< of the call on trial that is under way
  std::uint64_t began = 0;   ///< it, in ticks

 private:
  /// By a predefined type and operator, whose handles never mean others. On one line of the cache.
  struct alignas(32) Known {
    CallLength length;
    Kind* kind = nullptr;
  };
  /// Of one of some collectives.
  struct KnownOf : Known {
    Collective collective{};
  };
  static constexpr int slot_bits = 5;

  [[gnu::cold, gnu::noinline]] Kind& find_other(Collective collective, MPI_Count count, Handle type,
                                                Handle op);
  Kind& look_up(Collective collective, const CallLength& length);
  Kind& kind_of(Collective collective, std::size_t bytes);

  const bool host_may_serve_;
  // Ranks may remember different calls, for their kinds are the same.
  std::array<Known, collective_count> last_;
  std::array<KnownOf, 1 << slot_bits> before_{};
  std::map<unsigned, Kind> kinds_;
  Kind without_trial_;
};

}  // namespace espalier::mpi::guard
