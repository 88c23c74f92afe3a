// The operators and types of the interface as Espalier's kernels.
#pragma once

#include <cstdint>

#include "reduce/operation.hpp"

namespace espalier::sharp {

/// nullptr: there is no such operator on such a type. `op` and `type` may be any bytes from the network.
const reduce::Operation* kernel_of(std::uint8_t op, std::uint8_t type);

/// Bytes of an element; 0: no type.
std::size_t extent_of(std::uint8_t type);

}  // namespace espalier::sharp
