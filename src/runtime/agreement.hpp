// How the ranks of a communicator agree to share memory, or not to (invariant 1).
#pragma once

#include <cstdint>
#include <string>

#include "machine/layout.hpp"
#include "memory/arena.hpp"
#include "runtime/bootstrap.hpp"

namespace espalier::runtime {

/// The outcome, equal on all ranks.
struct Agreement {
  memory::Share share;  ///< none: refused
  machine::Layout layout;
  double ranks_per_core = 1;
  bool single_copy = false;   ///< ranks may read each other's memory
  bool prompt_yields = true;  ///< a yield makes room for any other rank at once
  std::string refusal;
};

/// How a communicator of that many ranks lies in its share, by the configuration.
machine::Layout layout_for(int ranks);

/// Collective over the communicator. Two rounds: everybody says where it stands and rank 0 offers a share;
/// then everybody says whether its part of the share is backed by memory. Zeroes the flag lines in between.
Agreement agree(const Bootstrap& bootstrap);

}  // namespace espalier::runtime
