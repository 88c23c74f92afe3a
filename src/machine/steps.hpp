// The steps of one use of slots, as a value: their numbers, and where their data lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/flag_line.hpp"

namespace espalier::machine {

using memory::Step;

/// Which buffers carry the data of some steps.
enum class Buffers : std::uint8_t {
  ring,            ///< each rank's slots
  pairwise_slots,  ///< of two ranks: their pairwise cells, in place of slots
  pairwise_cells   ///< each rank's slots, and beside them the cells that a pair of ranks has
};

/// What advance() gives. The same on all ranks, but for `in_short_ring`. Later calls of the machine do not
/// change what it means.
struct Steps {
  Step first = 0;
  Step round = 0;  ///< of the pairwise buffers, where they are used
  int span = 1;    ///< slots side by side, a power of two; each has a step
  /// Each slot is cut in 2^split parts, of which each way around the ring takes another.
  std::uint8_t split = 0;
  Buffers buffers = Buffers::ring;
  bool may_be_short = false;   ///< the writer may choose the short ring
  bool in_short_ring = false;  ///< it has

  /// The step that is published and finished for all of them.
  Step last() const { return first + static_cast<Step>(span) - 1; }
  /// The index-th use of as many slots in a range of open steps that begins here.
  Steps after(std::size_t index) const {
    Steps steps = *this;
    steps.first += static_cast<Step>(index) * static_cast<Step>(span);
    steps.round += static_cast<Step>(index);
    return steps;
  }
};

/// Steps that a rank may use or leave unused.
struct StepRange {
  Steps begin;  ///< the first use
  Step last;    ///< which all ranks finish
};

/// How many numbers a range of open steps takes beyond its first step: a multiple of any number of slots,
/// beyond what a call can need (128 GiB a rank in slots of 32 KiB), and so few that 64 bits of numbers
/// outlast any program.
inline constexpr Step open_steps = Step{1} << 22;

}  // namespace espalier::machine
