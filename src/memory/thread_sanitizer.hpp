// What ThreadSanitizer does not see by itself: copies by the kernel and by streaming stores, and what other processes order. In a
// build with it (make test-tsan) it is told of them; in all others this is nothing.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

#ifdef __SANITIZE_THREAD__
#define ESPALIER_THREADS_ARE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ESPALIER_THREADS_ARE_SANITIZED 1
#endif
#endif
#ifdef ESPALIER_THREADS_ARE_SANITIZED
#include <sanitizer/tsan_interface.h>
extern "C" {
void __tsan_read_range(void* first, long bytes);   // NOLINT(bugprone-reserved-identifier)
void __tsan_write_range(void* first, long bytes);  // NOLINT(bugprone-reserved-identifier)
}
#endif

namespace espalier::memory {

/// The calling thread has read these bytes of `process`. Of another process there is nothing to tell.
inline void tell_of_read(pid_t process, const void* first, std::size_t bytes) {
#ifdef ESPALIER_THREADS_ARE_SANITIZED
  if (process == getpid()) __tsan_read_range(const_cast<void*>(first), static_cast<long>(bytes));
#endif
}

inline void tell_of_write(void* first, std::size_t bytes) {
#ifdef ESPALIER_THREADS_ARE_SANITIZED
  __tsan_write_range(first, static_cast<long>(bytes));
#endif
}

/// Memory of an arena that a thread leaves may come back to another one of its process by way of other processes: the last of its
/// ranks gives it back, and the rank that gets it tells the others where it lies. So what was done before tell_of_leaving() comes
/// before what follows tell_of_return().
inline void tell_of_leaving(void* arena) {
#ifdef ESPALIER_THREADS_ARE_SANITIZED
  __tsan_release(arena);
#endif
}

inline void tell_of_return(void* arena) {
#ifdef ESPALIER_THREADS_ARE_SANITIZED
  __tsan_acquire(arena);
#endif
}

}  // namespace espalier::memory
