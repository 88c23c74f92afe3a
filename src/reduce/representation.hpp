// What one element of each type looks like in memory. Plain data only: these are seen by units that are
// compiled for different instruction sets, so nothing here may have a function body.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::reduce {

// In place of a type that the compiler lacks.
struct Missing {};

// GCC 12 knows _Float16 in C++ on x86 only; on ARM the storage type __fp16 serves, arithmetic is in float
// either way.
#if defined(__x86_64__) && defined(__FLT16_MANT_DIG__)
#define ESPALIER_HAS_FLOAT16 1
using Float16 = _Float16;
#elif defined(__ARM_FP16_FORMAT_IEEE)
#define ESPALIER_HAS_FLOAT16 1
using Float16 = __fp16;
#else
#define ESPALIER_HAS_FLOAT16 0
using Float16 = Missing;
#endif

// The upper half of a float: no compiler of ours has it as a type with arithmetic.
struct BFloat16 {
  std::uint16_t bits;
};

#if defined(__SIZEOF_FLOAT128__)
#define ESPALIER_HAS_FLOAT128 1
using Float128 = __float128;
#elif __LDBL_MANT_DIG__ == 113
#define ESPALIER_HAS_FLOAT128 1
using Float128 = long double;
#else
#define ESPALIER_HAS_FLOAT128 0
using Float128 = Missing;
#endif

#if defined(__SIZEOF_INT128__)
#define ESPALIER_HAS_INT128 1
using Int128 = __int128;
using Uint128 = unsigned __int128;
#else
#define ESPALIER_HAS_INT128 0
using Int128 = Missing;
using Uint128 = Missing;
#endif

template <class Part>
struct Complex {
  Part real, imaginary;
};

// MPI_FLOAT_INT and the like: a C struct with the padding C gives it.
template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};
using FloatInt = Pair<float, int>;
using DoubleInt = Pair<double, int>;
using LongInt = Pair<long, int>;
using IntInt = Pair<int, int>;
using ShortInt = Pair<short, int>;
using LongDoubleInt = Pair<long double, int>;
using FloatFloat = Pair<float, float>;
using DoubleDouble = Pair<double, double>;

// Bytes of an element: from one to the next, and without padding.
template <class Element>
struct SizeOf {
  static constexpr std::size_t extent = sizeof(Element), packed = extent;
};
template <class Value, class Index>
struct SizeOf<Pair<Value, Index>> {
  static constexpr std::size_t extent = sizeof(Pair<Value, Index>), packed = sizeof(Value) + sizeof(Index);
};
template <>
struct SizeOf<Missing> {
  static constexpr std::size_t extent = 0, packed = 0;
};
template <>
struct SizeOf<Complex<Missing>> : SizeOf<Missing> {};

// The unsigned type whose kernels an integer type shares where the bits agree.
template <class Integer>
struct UnsignedOf {
  using type = Integer;
};
template <>
struct UnsignedOf<std::int8_t> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<std::int16_t> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<std::int32_t> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<std::int64_t> {
  using type = std::uint64_t;
};
#if ESPALIER_HAS_INT128
template <>
struct UnsignedOf<Int128> {
  using type = Uint128;
};
#endif

}  // namespace espalier::reduce
