#include "base/ticks.hpp"

#include <time.h>

#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/prctl.h>

#include <sstream>
#include <string>

#include "base/files.hpp"
#endif

namespace espalier::ticks {

std::uint64_t nanoseconds() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

#if defined(__x86_64__)
namespace {

bool is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

// The kernel takes a counter that differs between cores off this list. Without the list the processor is
// believed.
bool kernel_trusts_it() {
  std::istringstream file(text_of("/sys/devices/system/clocksource/clocksource0/available_clocksource"));
  std::string name;
  bool any = false;
  while (file >> name) {
    if (name == "tsc") return true;
    any = true;
  }
  return !any;
}

bool may_be_read() noexcept {
  int how = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &how) != 0 || how == PR_TSC_ENABLE;
}

bool has_counter() noexcept {
  try {
    return is_invariant() && may_be_read() && kernel_trusts_it();
  } catch (...) {
    return false;
  }
}

}  // namespace
#endif

namespace {

struct Moment {
  std::uint64_t ticks, nanoseconds;
};

// Both clocks at once: of several readings the one between whose ends the least time went by.
Moment moment() noexcept {
  Moment best{};
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = now(), time = nanoseconds(), after = now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, time};
  }
  return best;
}

double measure() noexcept {
  choose();
  const Moment first = moment();
  Moment last = first;
  while (last.nanoseconds - first.nanoseconds < 1'000'000) last = moment();
  return static_cast<double>(last.nanoseconds - first.nanoseconds) * 1e-9 /
         static_cast<double>(last.ticks - first.ticks);
}

}  // namespace

void choose() noexcept {
#if defined(__x86_64__)
  static const bool chosen = [] {
    counter_is_good = has_counter();
    return true;
  }();
  static_cast<void>(chosen);
#endif
}

double seconds_per_tick() noexcept {
  static const double length = measure();
  return length;
}

}  // namespace espalier::ticks
