// Sums of arrays without rounding, at the speed of memory: a block of numbers is cut into parts that doubles add
// exactly (Rump, Ogita, Oishi, "Accurate floating-point summation part I", 2008, algorithm 3.2, the same idea as
// ReproBLAS's bins). What the parts add up to goes into a long accumulator, once a block. Included once by each
// unit of one instruction set (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/exact/split_sums.hpp"
#include "reduce/exact/vectors.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// A vector of a block, whose last one may be short: zeros stand for what is not there.
template <class Element>
[[gnu::always_inline]] inline Doubles vector_at(const Element* values, std::size_t i, std::size_t count) {
  if (i + lanes <= count) return load(values + i);
  Element some[lanes] = {};
  __builtin_memcpy(some, values + i, (count - i) * sizeof(Element));
  return load(some);
}

// NaN may be overlooked.
template <class Element>
double largest_magnitude(const Element* values, std::size_t count) {
  Doubles largest[4] = {};
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes)
    for (std::size_t k = 0; k < 4; ++k) {
      const Doubles some = magnitude(load(values + i + k * lanes));
      largest[k] = some > largest[k] ? some : largest[k];
    }
  for (; i < count; i += lanes) {
    const Doubles some = magnitude(vector_at(values, i, count));
    largest[0] = some > largest[0] ? some : largest[0];
  }
  double result = 0;
  for (const Doubles& vector : largest)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      if (vector[lane] > result) result = vector[lane];
  return result;
}

// Adding a power of two and taking it away leaves of a number what is a multiple of the power's last bit: such
// parts of up to 2^11 numbers that are all below the power's 2^-11th add exactly, and the remainders are below
// its 2^-53rd.
constexpr int exponent_of_room = 11;
static_assert(exact::block_elements + 2 <= 1 << exponent_of_room);
constexpr int bits_of_part = 53 - exponent_of_room;

double power_of_two(int field) { return __builtin_bit_cast(double, static_cast<std::uint64_t>(field) << 52); }

// Into `parts` parts; false where something is left over.
template <int parts, class Element>
bool split_into(const Element* values, std::size_t count, int field, exact::SplitSums& sums) {
  Doubles power[parts], sum[parts] = {};
  for (int part = 0; part < parts; ++part) {
    const int lower = field - part * bits_of_part;
    power[part] = Doubles{} + power_of_two(lower > 1 ? lower : 1);  // whose last bit is that of all numbers
  }
  Masks left{};
  for (std::size_t i = 0; i < count; i += lanes) {
    // This block is in L1 since its largest number was looked for; meanwhile the next one may come.
    __builtin_prefetch(reinterpret_cast<const char*>(values + i) + exact::block_elements * sizeof(Element));
    Doubles rest = vector_at(values, i, count);
    for (int part = 0; part < parts; ++part) {
      const Doubles upper = (rest + power[part]) - power[part];
      sum[part] += upper;
      rest -= upper;
    }
    left |= rest != Doubles{};  // of infinities and NaN, too
  }
  std::int64_t any = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) any |= left[lane];
  for (int part = 0; part < parts; ++part)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums.sum[part][lane % 2] += sum[part][lane];
  return any == 0;
}

template <class Element>
[[gnu::noinline]] int split_in_usual_modes(const Element* values, std::size_t count,
                                           exact::SplitSums& sums) noexcept {
  const double largest = largest_magnitude(values, count);
  if (largest == 0) return 0;  // NaN, or zeros, whose signs matter
  const int field = static_cast<int>(__builtin_bit_cast(std::uint64_t, largest) >> 52) + 1 + exponent_of_room;
  if (field > 0x7fe) return 0;
  sums = {};
  if (split_into<2>(values, count, field, sums)) return 2;
  sums = {};
  return split_into<4>(values, count, field, sums) ? 4 : 0;
}

// As exact::Splitter.
template <class Element>
int split(const void* values, std::size_t count, exact::SplitSums& sums) noexcept {
  const UsualModes modes;
  return split_in_usual_modes(static_cast<const Element*>(values), count, sums);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
