// Numbers that only a job knows, by which its processes find each other.
#pragma once

#include <cstdint>

namespace espalier {

/// How long who gives a descriptor waits for each that is to take it, and the other way round.
inline constexpr int handover_timeout_ms = 60 * 1000;

/// Odd, hence never 0.
std::uint64_t random_token();

}  // namespace espalier
