// A sum of doubles (and of floats, which are doubles, too) without rounding: a fixed-point number that is wide
// enough for every one of them, after Kulisch's long accumulator and the small superaccumulator of Neal ("Fast
// exact summation using small and large superaccumulators", 2015). It is rounded once, when it is asked for its
// value; so neither the order of the numbers nor the way in which they were grouped changes a bit.
//
// Declarations and plain data alone: units that are compiled for other instruction sets see them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::reduce::exact {

/// All zeros: no number has been added. The words of several accumulators may be added one by one as 64-bit
/// integers (modulo 2^64), each of them propagate()d before, of up to 2^30 accumulators: the result is the
/// accumulator of all their numbers, to be propagate()d again before more is added to it.
struct Accumulator {
  static constexpr int digits = 68;
  /// Sum of digit[i] * 2^(32 i - 1074): bit 0 is the smallest subnormal. The last digits have room for the carries
  /// of 2^60 numbers.
  std::int64_t digit[digits];
  /// Marks: 0 for none, else some number that is not 0.
  std::int64_t positive_infinities, negative_infinities, not_numbers;
  /// Whether any number was not -0: a sum of -0 alone is -0, and all other sums that are 0 are +0.
  std::int64_t others;
  std::int64_t negative_zeros;
  std::int64_t pending;  ///< how many numbers have been added since propagate()
};
static_assert(sizeof(Accumulator) == 74 * sizeof(std::int64_t));

/// target += value, exactly.
void add(Accumulator& target, double value) noexcept;
/// target += values, exactly.
void add(Accumulator& target, const Accumulator& values) noexcept;

/// Brings every digit but the last, which has the sign, into 0 to 2^32 - 1, without a change of the value.
void propagate(Accumulator& accumulator) noexcept;

/// The value, rounded to nearest, ties to even. NaN (quiet, sign clear, no payload) where a NaN or infinities of
/// both signs were added; an infinity where those of one sign were; else an infinity only where the sum itself,
/// not one on the way to it, exceeds the largest number by half a unit.
double to_double(const Accumulator& accumulator) noexcept;
float to_float(const Accumulator& accumulator) noexcept;

}  // namespace espalier::reduce::exact
