// In what a floating type is computed: half precision and bfloat16 in float. Included once by each unit of one
// instruction set (see catalogue.hpp).
#pragma once

#include <cstdint>

#include "reduce/representation.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

template <class T>
struct Wide {
  using type = T;
  static T widen(T element) { return element; }
  static T narrow(T value) { return value; }
};

#if ESPALIER_HAS_FLOAT16
// The compiler rounds to nearest, ties to even, as F16C does.
template <>
struct Wide<Float16> {
  using type = float;
  static float widen(Float16 element) { return static_cast<float>(element); }
  static Float16 narrow(float value) { return static_cast<Float16>(value); }
};
#endif

BFloat16 upper_half(float value) {
  return {static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, value) >> 16)};
}

// Integers alone, which the compiler vectorises for every set. AVX-512 BF16's own conversion is of no use here:
// it takes subnormals for zero, so bits would depend on the processor.
template <>
struct Wide<BFloat16> {
  using type = float;
  static float widen(BFloat16 element) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(element.bits) << 16);
  }
  // To nearest, ties to even: just under a half is added, and the lowest bit that stays. The carry makes an
  // infinity of what is too large. Not for NaNs but the quiet one without payload (one_nan).
  static BFloat16 narrow(float value) {
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    return {static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
  }
};

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
