// Where the progress thread of a process runs (runtime/progress/progress_thread.hpp).
#pragma once

#include <chrono>

namespace espalier::runtime {

/// Moves the calling thread to the nearest cores that no rank of the node uses, or leaves it where its process may run if
/// there are none. Returns how long it may look without a pause: not at all where it takes time from ranks.
std::chrono::microseconds settle_on_spare_core();

}  // namespace espalier::runtime
