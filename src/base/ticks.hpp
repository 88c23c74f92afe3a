// A clock for what a short call takes: it is read twice in each.
#pragma once

#include <cstdint>

namespace espalier::ticks {

/// Where no counter of the processor will do.
std::uint64_t nanoseconds() noexcept;

#if defined(__x86_64__)
/// The time stamp counter runs at one rate, whatever the cores do, and the program may read it. False until
/// choose() has looked.
inline bool counter_is_good = false;
#endif

/// Ticks since some moment, on a thread that has called choose() or heard from one that has. Not
/// ordered with the instructions around it, so a single difference is good to some 20 ns.
inline std::uint64_t now() noexcept {
#if defined(__x86_64__)
  if (counter_is_good) [[likely]]
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
  return nanoseconds();
}

/// Finds out which clock it is, at the first call. Thread-safe.
void choose() noexcept;

/// Measured at the first call, which takes a millisecond. Chooses the clock. Thread-safe.
double seconds_per_tick() noexcept;

}  // namespace espalier::ticks
