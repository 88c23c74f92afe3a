// What libstdc++.a of this machine wants of its glibc, and what an old one does not have. Hidden: no other library is to take
// them from ours.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// glibc 2.32. 0: there may be other threads, so that reference counts are always atomic.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// glibc 2.36, for std::random_device.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}
