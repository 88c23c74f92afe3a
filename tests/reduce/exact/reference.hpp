// Sums in integers of any length, rounded once.
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace exact_reference {

inline std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

using Integer = boost::multiprecision::cpp_int;

/// In units of the smallest subnormal double; finite numbers alone.
inline Integer units_of(double value) {
  int exponent = 0;
  const double significand = std::frexp(value, &exponent);  // 0.5 to 1
  const Integer whole(static_cast<long long>(std::ldexp(significand, 53)));
  const int shift = exponent - 53 + 1074;
  return shift >= 0 ? Integer(whole << shift)
                    : Integer(whole / (Integer(1) << -shift));  // subnormals: no rest
}

/// To nearest, ties to even.
template <class T>
T rounded(const Integer& units) {
  using Limits = std::numeric_limits<T>;
  if (units == 0) return 0;
  const Integer magnitude = abs(units);
  const int lowest = Limits::min_exponent - Limits::digits + 1074;  // the unit of T's subnormals
  const int last = std::max(static_cast<int>(msb(magnitude)) - Limits::digits + 1, lowest);
  Integer kept = magnitude >> last;
  const Integer rest = magnitude - (kept << last), half = last > 0 ? Integer(1) << (last - 1) : Integer(1);
  if (last > 0 && (rest > half || (rest == half && bit_test(kept, 0)))) ++kept;
  const T result = std::ldexp(static_cast<T>(static_cast<unsigned long long>(kept)), last - 1074);
  return units < 0 ? -result : result;
}

/// The right sum of any operands.
template <class T>
T sum(const std::vector<T>& operands) {
  Integer units = 0;
  bool up = false, down = false, others = operands.empty();
  for (const T operand : operands) {
    if (std::isnan(operand)) return std::numeric_limits<T>::quiet_NaN();
    if (std::isinf(operand))
      (operand > 0 ? up : down) = true;
    else
      units += units_of(operand);
    others |= operand != 0 || !std::signbit(operand);
  }
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (up || down) return up && down ? std::numeric_limits<T>::quiet_NaN() : up ? infinity : -infinity;
  if (units == 0) return others ? T(0) : -T(0);
  return rounded<T>(units);
}

}  // namespace exact_reference
