// The element types of MPI's predefined reductions: a table from which sizes, names and kernels come.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::reduce {

// A type is named by its representation, not by its MPI handle: MPI_INT, MPI_INT32_T and MPI_INTEGER are all
// int32.
//
// X(name, element, family, units). The element is a type of representation.hpp; one that the compiler lacks
// is `Missing` there, and its type has neither size nor operation. The family says which operators are
// defined on it (catalogue.hpp; MPI 4.1, section 6.9.2); `located` are the pairs of MPI_MINLOC. Units:
// `every` instruction set has its own kernels, or the `baseline` alone, where wider vectors gain nothing.
#define ESPALIER_REDUCE_TYPES(X)                                                                         \
  X(int8, std::int8_t, integer, every)                                                                   \
  X(int16, std::int16_t, integer, every)                                                                 \
  X(int32, std::int32_t, integer, every)                                                                 \
  X(int64, std::int64_t, integer, every)                                                                 \
  X(int128, Int128, integer, baseline) /* INTEGER*16 */                                                  \
  X(uint8, std::uint8_t, integer, every)                                                                 \
  X(uint16, std::uint16_t, integer, every)                                                               \
  X(uint32, std::uint32_t, integer, every)                                                               \
  X(uint64, std::uint64_t, integer, every)                                                               \
  X(float16, Float16, floating, every)                                                                   \
  X(bfloat16, BFloat16, floating, every)                                                                 \
  X(float32, float, floating, every)                                                                     \
  X(float64, double, floating, every)                                                                    \
  X(float_extended, long double, floating, baseline)                                                     \
  X(float128, Float128, floating, baseline) /* REAL*16 */                                                \
  X(complex64, Complex<float>, complex, every)                                                           \
  X(complex128, Complex<double>, complex, every)                                                         \
  X(complex_extended, Complex<long double>, complex, baseline)                                           \
  X(complex256, Complex<Float128>, complex, baseline)                                                    \
  X(boolean, std::uint8_t, logical, every)  /* C _Bool, C++ bool */                                      \
  X(logical8, std::uint8_t, logical, every) /* LOGICAL*1: any value but 0 is true, results are 0 or 1 */ \
  X(logical16, std::uint16_t, logical, every)                                                            \
  X(logical32, std::uint32_t, logical, every)                                                            \
  X(logical64, std::uint64_t, logical, every)                                                            \
  X(logical128, Uint128, logical, baseline)                                                              \
  X(byte, std::uint8_t, bitwise, every) /* MPI_BYTE */                                                   \
  X(float_int, FloatInt, located, baseline)                                                              \
  X(double_int, DoubleInt, located, baseline)                                                            \
  X(long_int, LongInt, located, baseline)                                                                \
  X(int_int, IntInt, located, baseline) /* also 2INTEGER */                                              \
  X(short_int, ShortInt, located, baseline)                                                              \
  X(long_double_int, LongDoubleInt, located, baseline)                                                   \
  X(float_float, FloatFloat, located, baseline)     /* 2REAL: the index is a float */                    \
  X(double_double, DoubleDouble, located, baseline) /* 2DOUBLE_PRECISION */

enum class Type : std::uint8_t {
#define ESPALIER_ENUMERATOR(name, element, family, units) name,
  ESPALIER_REDUCE_TYPES(ESPALIER_ENUMERATOR)
#undef ESPALIER_ENUMERATOR
      none
};

inline constexpr std::size_t type_count = static_cast<std::size_t>(Type::none);

// Bytes from one element to the next in memory; 0 for `none` and for a type that does not exist here.
std::size_t extent(Type type) noexcept;

// What MPI_Type_size says: as extent(), but for pair types without their padding.
std::size_t packed_size(Type type) noexcept;

}  // namespace espalier::reduce
