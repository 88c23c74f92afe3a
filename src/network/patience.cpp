#include "network/patience.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace espalier::network {

void Wait::pass() {
  constexpr int first_nap_us = 20, last_nap_us = 200;
  if (looks_ < patience_.spins)
    ++looks_;
  else if (is_patient())
    sched_yield();
  else
    usleep(static_cast<useconds_t>(std::min(first_nap_us + naps_++, last_nap_us)));
}

bool Wait::is_patient() {
  // relaxed: it is a hint, and nothing else is read because of it.
  if (patience_.needs && patience_.needs->load(std::memory_order_relaxed) > 0) return true;
  if (naps_ > 0) return false;
  const int yields = looks_ - patience_.spins;
  if (yields == 0) first_yield_ = Clock::now();
  if (yields <= patience_.yields) ++looks_;
  return yields < patience_.yields || Clock::now() - first_yield_ < patience_.least;
}

}  // namespace espalier::network
