// Random numbers from the system.
#include "base/token.hpp"

#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>

namespace espalier {
namespace {

/// Where a filter of system calls refuses getrandom(): from the bytes that the system gives each program at
/// its start, which no other user sees.
std::uint64_t number_from_start() {
  static std::atomic<std::uint64_t> count{0};
  std::uint64_t number = 0;
  if (const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM)))
    std::memcpy(&number, random + sizeof number, sizeof number);
  number ^= static_cast<std::uint64_t>(getpid()) << 32 ^ static_cast<std::uint64_t>(time(nullptr));
  number += ++count * 0x9e3779b97f4a7c15ull;  // splitmix64, so that the bytes themselves are not shown
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ull;
  number = (number ^ number >> 27) * 0x94d049bb133111ebull;
  return number ^ number >> 31;
}

}  // namespace

std::uint64_t random_token() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = number_from_start();
  return number | 1;
}

}  // namespace espalier
