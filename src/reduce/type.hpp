// The element types of MPI's predefined reductions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::reduce {

// A type is named by its representation, not by its MPI handle: MPI_INT, MPI_INT32_T and MPI_INTEGER are all
// int32. float16, float128 and the 128-bit integers are always enumerators, but have no operation where the
// compiler lacks the type.
enum class Type : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  int128,  // INTEGER*16
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  float_extended,  // long double
  float128,        // REAL*16
  complex64,
  complex128,
  complex_extended,
  complex256,
  boolean,   // C _Bool, C++ bool
  logical8,  // Fortran LOGICAL*1 and so on: any value but 0 is true, results are 0 or 1
  logical16,
  logical32,
  logical64,
  logical128,
  byte,  // MPI_BYTE: bitwise only
  float_int,
  double_int,
  long_int,
  int_int,  // also 2INTEGER
  short_int,
  long_double_int,
  float_float,    // 2REAL: the index is a float
  double_double,  // 2DOUBLE_PRECISION
  none
};

inline constexpr std::size_t type_count = static_cast<std::size_t>(Type::none);

// Bytes from one element to the next in memory; 0 for `none` and for a type that does not exist here.
std::size_t extent(Type type) noexcept;

// What MPI_Type_size says: as extent(), but for pair types without their padding.
std::size_t packed_size(Type type) noexcept;

}  // namespace espalier::reduce
