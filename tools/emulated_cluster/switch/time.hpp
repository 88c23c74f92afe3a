#pragma once

#include <time.h>

#include <cstdint>

// Nanoseconds of the clock that ppoll's timeouts follow.
inline std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}
