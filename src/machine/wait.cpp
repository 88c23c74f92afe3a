#include "machine/wait.hpp"

#include <sched.h>

#include <bit>
#include <ctime>

#include "machine/wait_ladder.hpp"
#include "memory/futex.hpp"

namespace espalier::machine {
namespace {

// The futex is the half of the step that changes with every step.
std::uint32_t* futex_word(FlagLine& line) {
  auto* halves = reinterpret_cast<std::uint32_t*>(&line.step);
  return halves + (std::endian::native == std::endian::little ? 0 : 1);
}

// How often a pause of some tens of nanoseconds fits into the time for which spinning is cheaper than a
// switch.
constexpr int dedicated_spins = 1200;

}  // namespace

void HostPlatform::futex_wait(Line& line, std::uint32_t seen, std::uint32_t microseconds) {
  memory::futex_wait(futex_word(line), seen, microseconds);
}

void HostPlatform::futex_wake_all(Line& line) { memory::futex_wake_all(futex_word(line)); }

void HostPlatform::yield() { sched_yield(); }

std::int64_t HostPlatform::now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

WaitPolicy wait_policy(WaitMode mode, double ranks_per_core) {
  WaitPolicy policy;
  const bool oversubscribed = ranks_per_core > 1.0;
  if (mode == WaitMode::automatic) mode = oversubscribed ? WaitMode::yield : WaitMode::spin;
  policy.fenced = oversubscribed || mode == WaitMode::sleep;
  switch (mode) {
    case WaitMode::spin:
      policy.fast_spins = 400;
      policy.spins = dedicated_spins;
      policy.yields = 2000;
      policy.longest_rest = 1024;
      policy.drive_interval_ns = 2000;
      // Short ones: no rank here needs the core, and a message that the program has under way may need this
      // rank.
      policy.first_sleep_us = policy.last_sleep_us = 100;
      break;
    case WaitMode::yield:
      // The awaited rank may be waiting for this core: a few looks, then make room. Yields go on for long,
      // because a wake-up costs tens of microseconds (and ranks that have slept keep each other asleep: no
      // rest); but not when they take long themselves: then a stranger has the core.
      policy.fast_spins = 20;
      policy.yields = 400;
      policy.drive_interval_ns = 50000;
      policy.yields_per_drive = 64;
      policy.first_sleep_us = 200;
      break;
    case WaitMode::sleep:
    case WaitMode::automatic:
      policy.fast_spins = 20;
      policy.first_sleep_us = 200;
      break;
  }
  return policy;
}

// A thread that yields takes half of the core, in turns of milliseconds; one that wakes gets it sooner. The looks before
// stay: an answer that comes at once would cost a wake-up, and they are over within tens of microseconds.
WaitPolicy in_background(WaitPolicy policy) {
  const WaitPolicy asleep = wait_policy(WaitMode::sleep, 1.0);
  policy.yields = 0;
  policy.first_sleep_us = asleep.first_sleep_us;
  policy.last_sleep_us = asleep.last_sleep_us;
  policy.fenced = true;
  return policy;
}

template class BasicWaiter<HostPlatform>;

}  // namespace espalier::machine
