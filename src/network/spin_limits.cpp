#include "network/spin_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace espalier::network {

void Wait::pass() {
  pass([](std::chrono::microseconds limit) { usleep(static_cast<useconds_t>(limit.count())); });
}

void Wait::pass_poll() {
  pass([](std::chrono::microseconds) { sched_yield(); });
}

std::chrono::microseconds Wait::pass_awake() {
  constexpr int first_sleep_us = 20, last_sleep_us = 200;
  if (looks_ < spin_limits_.spins)
    ++looks_;
  else if (is_patient())
    sched_yield();
  else
    return std::chrono::microseconds(std::min(first_sleep_us + sleeps_++, last_sleep_us));
  return {};
}

bool Wait::is_patient() {
  // relaxed: it is a hint, and nothing else is read because of it.
  if (spin_limits_.needs && spin_limits_.needs->load(std::memory_order_relaxed) > 0) return true;
  if (sleeps_ > 0) return false;
  const int yields = looks_ - spin_limits_.spins;
  if (yields == 0) first_yield_ = Clock::now();
  if (yields <= spin_limits_.yields) ++looks_;
  return yields < spin_limits_.yields || Clock::now() - first_yield_ < spin_limits_.least;
}

}  // namespace espalier::network
