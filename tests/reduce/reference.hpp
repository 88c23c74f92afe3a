// The operators once more, written from their definitions for one element at a time and for the plain C++
// types, as the yardstick of the kernels. Shares nothing with src/reduce but the enumerators.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "reduce/operation.hpp"

namespace reference {

using espalier::reduce::Op;
using espalier::reduce::Type;

// What GCC 12 knows of these types where: half precision not on POWER, whose long double is a pair of
// doubles.
#if defined(__x86_64__)
#define REFERENCE_HAS_HALF 1
using Half = _Float16;
using Quad = __float128;
#elif defined(__aarch64__)
#define REFERENCE_HAS_HALF 1
using Half = __fp16;
using Quad = long double;
#else
#define REFERENCE_HAS_HALF 0
using Quad = __float128;
#endif

template <class T>
struct Cplx {
  T re, im;
};

template <class V, class I>
struct Located {
  V value;
  I index;
};

struct Byte {
  std::uint8_t bits;
};
template <class T>
struct Logical {
  T bits;
};

// bfloat16: the upper half of a float.
struct Brain {
  std::uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};
// The nearer one of the two that enclose the value, else the even one; beyond the largest as if exponents went
// on. By distances, not by the bits that are cut off.
inline Brain brain_of(float value) {
  const Brain inner{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)};
  if (std::isnan(value)) return {0x7fc0};
  if (std::isinf(value)) return inner;
  const Brain outer{static_cast<std::uint16_t>(inner.bits + 1)};
  const double limit = std::copysign(std::ldexp(1.0, 128), value);
  const double low = static_cast<float>(inner);
  const double high = std::isinf(static_cast<float>(outer)) ? limit : static_cast<float>(outer);
  const double below = std::abs(value - low), above = std::abs(high - value);
  return below < above || (below == above && inner.bits % 2 == 0) ? inner : outer;
}

// What a reference operator gives: nothing where the pair is undefined.
template <class T>
std::optional<T> integer(Op op, T a, T b) {
  using Wide = unsigned __int128;
  const Wide x = static_cast<Wide>(static_cast<__int128>(a)), y = static_cast<Wide>(static_cast<__int128>(b));
  switch (op) {
    case Op::max:
      return a > b ? a : b;
    case Op::min:
      return a < b ? a : b;
    case Op::sum:
      return static_cast<T>(x + y);
    case Op::prod:
      return static_cast<T>(x * y);
    case Op::land:
      return static_cast<T>(a && b);
    case Op::lor:
      return static_cast<T>(a || b);
    case Op::lxor:
      return static_cast<T>(!a != !b);
    case Op::band:
      return static_cast<T>(x & y);
    case Op::bor:
      return static_cast<T>(x | y);
    case Op::bxor:
      return static_cast<T>(x ^ y);
    default:
      return std::nullopt;
  }
}

template <class T>
T quiet(T value) {
  return value != value ? static_cast<T>(__builtin_nanf("")) : value;
}

// The volatile keeps the compiler from joining a product and a sum.
template <class T>
T times(T a, T b) {
  volatile T product = a * b;
  return product;
}

template <class T>
std::optional<T> floating(Op op, T a, T b) {
  switch (op) {
    case Op::max:
      return a > b ? a : b;
    case Op::min:
      return a < b ? a : b;
    case Op::sum:
      return quiet<T>(a + b);
    case Op::prod:
      return quiet<T>(a * b);
    default:
      return std::nullopt;
  }
}

template <class T>
std::optional<Cplx<T>> complex(Op op, Cplx<T> a, Cplx<T> b) {
  if (op == Op::sum) return Cplx<T>{quiet(a.re + b.re), quiet(a.im + b.im)};
  if (op == Op::prod)
    return Cplx<T>{quiet(times(a.re, b.re) - times(a.im, b.im)),
                   quiet(times(a.re, b.im) + times(a.im, b.re))};
  return std::nullopt;
}

// max and min choose, so that a NaN keeps its bits.
inline std::optional<Brain> brain(Op op, Brain a, Brain b) {
  const auto x = static_cast<float>(a), y = static_cast<float>(b);
  if (op == Op::max) return x > y ? a : b;
  if (op == Op::min) return x < y ? a : b;
  const std::optional<float> result = floating(op, x, y);
  return result ? std::optional(brain_of(*result)) : std::nullopt;
}

template <class V, class I>
std::optional<Located<V, I>> located(Op op, Located<V, I> a, Located<V, I> b) {
  if (op != Op::maxloc && op != Op::minloc) return std::nullopt;
  if (a.value == b.value) return a.index < b.index ? a : b;
  const bool first = op == Op::maxloc ? a.value > b.value : a.value < b.value;
  return first ? a : b;
}

template <class T>
std::optional<T> apply(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return integer(op, a, b);
  else
    return floating(op, a, b);
}
inline std::optional<Brain> apply(Op op, Brain a, Brain b) { return brain(op, a, b); }
template <class T>
std::optional<Cplx<T>> apply(Op op, Cplx<T> a, Cplx<T> b) {
  return complex(op, a, b);
}
template <class V, class I>
std::optional<Located<V, I>> apply(Op op, Located<V, I> a, Located<V, I> b) {
  return located(op, a, b);
}
inline std::optional<Byte> apply(Op op, Byte a, Byte b) {
  if (op != Op::band && op != Op::bor && op != Op::bxor) return std::nullopt;
  return Byte{*integer(op, a.bits, b.bits)};
}
template <class T>
std::optional<Logical<T>> apply(Op op, Logical<T> a, Logical<T> b) {
  if (op != Op::land && op != Op::lor && op != Op::lxor) return std::nullopt;
  return Logical<T>{*integer(op, a.bits, b.bits)};
}

// Sums and products of narrow floats are folded in float and rounded once.
template <class T>
T rounded(float value) {
  if constexpr (std::is_same_v<T, Brain>)
    return brain_of(value);
  else
    return quiet(static_cast<T>(value));
}
template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, Brain>;
#if REFERENCE_HAS_HALF
template <>
inline constexpr bool is_narrow<Half> = true;
#endif

// Calls visit(T{}) with the C++ type of `type`.
template <class Visit>
void with_type(Type type, Visit visit) {
  switch (type) {
    case Type::int8:
      return visit(std::int8_t{});
    case Type::int16:
      return visit(std::int16_t{});
    case Type::int32:
      return visit(std::int32_t{});
    case Type::int64:
      return visit(std::int64_t{});
    case Type::int128:
      return visit(static_cast<__int128>(0));
    case Type::uint8:
      return visit(std::uint8_t{});
    case Type::uint16:
      return visit(std::uint16_t{});
    case Type::uint32:
      return visit(std::uint32_t{});
    case Type::uint64:
      return visit(std::uint64_t{});
    case Type::float16:
#if REFERENCE_HAS_HALF
      return visit(Half{});
#else
      return;
#endif
    case Type::bfloat16:
      return visit(Brain{});
    case Type::float32:
      return visit(float{});
    case Type::float64:
      return visit(double{});
    case Type::float_extended: {
      return visit(static_cast<long double>(0));
    }
    case Type::float128:
      return visit(Quad{});
    case Type::complex64:
      return visit(Cplx<float>{});
    case Type::complex128:
      return visit(Cplx<double>{});
    case Type::complex_extended:
      return visit(Cplx<long double>{});
    case Type::complex256:
      return visit(Cplx<Quad>{});
    case Type::boolean:
      return visit(Logical<std::uint8_t>{});
    case Type::logical8:
      return visit(Logical<std::uint8_t>{});
    case Type::logical16:
      return visit(Logical<std::uint16_t>{});
    case Type::logical32:
      return visit(Logical<std::uint32_t>{});
    case Type::logical64:
      return visit(Logical<std::uint64_t>{});
    case Type::logical128:
      return visit(Logical<unsigned __int128>{});
    case Type::byte:
      return visit(Byte{});
    case Type::float_int:
      return visit(Located<float, int>{});
    case Type::double_int:
      return visit(Located<double, int>{});
    case Type::long_int:
      return visit(Located<long, int>{});
    case Type::int_int:
      return visit(Located<int, int>{});
    case Type::short_int:
      return visit(Located<short, int>{});
    case Type::long_double_int:
      return visit(Located<long double, int>{});
    case Type::float_float:
      return visit(Located<float, float>{});
    case Type::double_double:
      return visit(Located<double, double>{});
    case Type::none:
      return;
  }
}

}  // namespace reference
