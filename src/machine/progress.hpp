// The progress of the host MPI that other ranks need from a rank while it waits.
#pragma once

#include <atomic>

namespace espalier::machine {

/// What other ranks may need of this one at any time.
struct Progress {
  /// How many reasons there are: the program's windows, and its long messages under way. While it is not 0 a
  /// wait drives the host all the time, as the host's own waits do, and does not sleep. Null: no reason ever.
  const std::atomic<int>* needs = nullptr;
  void (*drive)(void*) = nullptr;  ///< the host's progress alone: the whole progress hook takes twice as long
  void* context = nullptr;

  bool is_needed() const {
    // relaxed: it is a hint, and nothing else is read because of it.
    return needs && needs->load(std::memory_order_relaxed) > 0;
  }
};

}  // namespace espalier::machine
