#include "memory/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace espalier::memory {

// Not FUTEX_PRIVATE: the word is shared between processes. Where a filter refuses the call, a short sleep
// makes room, too, and looks again in time.
void futex_wait(std::uint32_t* word, std::uint32_t seen, std::uint32_t microseconds) {
  const timespec limit{microseconds / 1000000, static_cast<long>(microseconds % 1000000) * 1000};
  const bool is_refused = syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, nullptr, 0) != 0 &&
                          (errno == EPERM || errno == EACCES || errno == ENOSYS);
  const timespec blind{0, 50'000};
  if (is_refused) nanosleep(&blind, nullptr);
}

void futex_wake_all(std::uint32_t* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace espalier::memory
