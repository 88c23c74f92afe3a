#include "machine/wait.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>

namespace espalier::machine {
namespace {

// The futex is the half of the step that changes with every step.
std::uint32_t* futex_word(FlagLine& line) {
  auto* halves = reinterpret_cast<std::uint32_t*>(&line.step);
  return halves + (std::endian::native == std::endian::little ? 0 : 1);
}

// Not FUTEX_PRIVATE: the line is shared between processes.
void futex_wait(FlagLine& line, std::uint32_t seen, std::uint32_t microseconds) {
  const timespec limit{microseconds / 1000000, static_cast<long>(microseconds % 1000000) * 1000};
  syscall(SYS_futex, futex_word(line), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

void futex_wake_all(FlagLine& line) {
  syscall(SYS_futex, futex_word(line), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

// How often a pause of some tens of nanoseconds fits into the time for which spinning is cheaper than a
// switch.
constexpr int dedicated_spins = 1200;

}  // namespace

WaitPolicy wait_policy(WaitMode mode, double ranks_per_core) {
  WaitPolicy policy;
  const bool crowded = ranks_per_core > 1.0;
  if (mode == WaitMode::automatic) mode = crowded ? WaitMode::yield : WaitMode::spin;
  policy.fenced = crowded || mode == WaitMode::sleep;
  switch (mode) {
    case WaitMode::spin:
      policy.fast_spins = 400;
      policy.spins = dedicated_spins;
      policy.yields = 2000;
      policy.longest_rest = 1024;
      policy.poke_interval_ns = 2000;
      policy.first_nap_us = 100;
      break;
    case WaitMode::yield:
      // The awaited rank may be waiting for this core: a few looks, then make room. Yields go on for long,
      // because a wake-up costs tens of microseconds (and ranks that have slept keep each other asleep: no
      // rest); but not when they take long themselves: then a stranger has the core.
      policy.fast_spins = 20;
      policy.yields = 400;
      policy.poke_interval_ns = 50000;
      policy.first_nap_us = 200;
      break;
    case WaitMode::sleep:
    case WaitMode::automatic:
      policy.fast_spins = 20;
      policy.first_nap_us = 200;
      break;
  }
  return policy;
}

void Waiter::climb(FlagLine& line, Step step, int peer) {
  waits_for_ = peer;
  if (!spin(line, step) && !yield(line, step)) sleep(line, step);
  waits_for_ = -1;
}

// Learns from what waits cost: when spinning did not help, the next spin is shorter (a stranger has the core
// that the awaited rank needs); when it did, longer again.
bool Waiter::spin(const FlagLine& line, Step step) {
  ++counts_.spin;
  for (int i = 0; i < spin_budget_; ++i) {
    if (line.step.load(std::memory_order_acquire) >= step) {
      spin_budget_ = std::min(policy_.spins, spin_budget_ * 2);
      return true;
    }
    pause_cpu();
  }
  if (policy_.spins > 0) spin_budget_ = std::max(policy_.spins / 4, spin_budget_ / 2);
  return false;
}

// Learns, too: where a single yield takes long, the core went to somebody who computes (a stranger, or a rank
// that is busy), and who sleeps comes back sooner, because the kernel prefers the one that wakes. Many short
// yields in vain only say that the awaited rank is late: then it sleeps this once.
bool Waiter::yield(const FlagLine& line, Step step) {
  if (waits_without_yields_ > 0) {
    --waits_without_yields_;
    return false;
  }
  const std::int64_t begin = monotonic_ns();
  std::int64_t now = begin;
  for (int i = 0; i < policy_.yields && now - begin < policy_.long_yield_ns; ++i) {
    if (line.step.load(std::memory_order_acquire) >= step) {
      rest_from_yields_ = least_rest;
      return true;
    }
    poke_now_and_then(now);
    ++counts_.yield;
    const std::int64_t before = now;
    sched_yield();
    now = monotonic_ns();
    if (now - before >= policy_.long_yield_ns) {
      waits_without_yields_ = std::min(rest_from_yields_, policy_.longest_rest);
      rest_from_yields_ = std::min(rest_from_yields_ * 2, policy_.longest_rest);
    }
  }
  return false;
}

void Waiter::sleep(FlagLine& line, Step step) {
  std::uint32_t nap = policy_.first_nap_us;
  for (;;) {
    const Step seen = line.step.load(std::memory_order_acquire);
    if (seen >= step) return;
    poke_while_it_works();
    ++counts_.sleep;
    fall_asleep(line, seen, nap);
    nap = std::min(nap * 2, policy_.last_nap_us);
  }
}

void Waiter::fall_asleep(FlagLine& line, Step seen, std::uint32_t microseconds) {
  line.sleepers.fetch_add(1, std::memory_order_relaxed);
  // Orders the mark before the look at the step; pairs with the fence in signal().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (line.step.load(std::memory_order_relaxed) == seen)
    futex_wait(line, static_cast<std::uint32_t>(seen), microseconds);
  line.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void Waiter::wake(FlagLine& line) { futex_wake_all(line); }

void Waiter::poke_now_and_then(std::int64_t now) {
  if (now - last_poke_ns_ < policy_.poke_interval_ns) return;
  last_poke_ns_ = now;
  poke();
}

// Also asleep the host's messages go on (invariant 2). A host may push a long message on by some tens of
// kilobytes a time, and the next time is a nap away: so again as long as a poke takes longer than one that
// finds nothing to do. No more of those: on a crowded core the awaited rank would pay for them.
void Waiter::poke_while_it_works() {
  constexpr int most = 16;
  for (int i = 0; i < most; ++i) {
    const std::int64_t begin = monotonic_ns();
    poke();
    const std::int64_t took = monotonic_ns() - begin;
    least_poke_ns_ = std::min(least_poke_ns_, took);
    if (took <= 2 * least_poke_ns_) return;
  }
}

void Waiter::poke() {
  ++counts_.poke;
  if (poke_.function) poke_.function(poke_.context);
}

}  // namespace espalier::machine
