#include "base/token.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <ctime>

namespace espalier {

std::uint64_t random_token() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(getpid()) << 32 ^ static_cast<std::uint64_t>(time(nullptr));
  return number | 1;
}

}  // namespace espalier
