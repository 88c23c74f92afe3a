// Progress of the host MPI that other ranks need of one that waits.
#pragma once

#include <atomic>

namespace espalier::machine {

/// What other ranks may need of this one at any time.
struct Progress {
  /// How many reasons there are for that (windows); while it is not 0 a wait drives all the time, as the
  /// host's own waits do, and does not sleep. Null: never.
  const std::atomic<int>* needs = nullptr;
  void (*drive)(void*) = nullptr;  ///< the host alone: what a progress call does besides takes as long again
  void* context = nullptr;

  bool is_needed() const {
    // relaxed: it is a hint, and nothing else is read because of it.
    return needs && needs->load(std::memory_order_relaxed) > 0;
  }
};

}  // namespace espalier::machine
