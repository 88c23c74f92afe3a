// Whether there is a process of that number, also one that this process may not look at.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cerrno>

namespace espalier {

/// Thread-safe.
inline bool process_exists(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

}  // namespace espalier
