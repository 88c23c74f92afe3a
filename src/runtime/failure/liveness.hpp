// Whether another process of this machine still runs.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace espalier::runtime {

/// A process, told from a later one that got its number. Plain bytes: it lies in shared memory.
struct ProcessMark {
  pid_t process;
  std::uint64_t started;  ///< in ticks since the machine booted
};

/// Of this process; of a child after fork() too.
ProcessMark own_mark();

enum class Liveness {
  runs,
  ended,   ///< no process has that number any more, or another one has
  unknown  ///< it cannot be seen (no /proc, one that hides other users' processes, no descriptor left)
};

/// What this process sees of that one. One that is in another name space of processes seems to have ended:
/// ask first while it must be running. Thread-safe.
Liveness liveness_of(const ProcessMark& mark);

}  // namespace espalier::runtime
