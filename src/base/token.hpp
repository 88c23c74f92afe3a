// Numbers that only a job knows, by which its processes find each other.
#pragma once

#include <cstdint>

namespace espalier {

/// Odd, hence never 0.
std::uint64_t random_token();

}  // namespace espalier
