// What a block of an array comes to, in parts. Plain data alone: units that are compiled for other instruction
// sets see it.
#pragma once

#include <cstddef>

namespace espalier::reduce::exact {

inline constexpr std::size_t block_elements = 1024;
inline constexpr int most_parts = 4;

/// By part, and by whether the elements have even or odd places (the real and imaginary parts of complex numbers).
struct SplitSums {
  double sum[most_parts][2];
};

/// Up to block_elements values; how many parts their sums have, exactly. 0: these values cannot be split, for some
/// are not finite, or too large, or all are 0, or their exponents are too far apart.
using Splitter = int (*)(const void* values, std::size_t count, SplitSums& sums) noexcept;

}  // namespace espalier::reduce::exact
