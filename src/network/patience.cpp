#include "network/patience.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace espalier::network {

void Wait::pass() {
  constexpr int first_nap_us = 20, last_nap_us = 200;
  const int beyond = looks_++ - patience_.spins;
  if (beyond < 0) return;
  if (beyond < patience_.yields)
    sched_yield();
  else
    usleep(static_cast<useconds_t>(std::min(first_nap_us + beyond - patience_.yields, last_nap_us)));
}

}  // namespace espalier::network
