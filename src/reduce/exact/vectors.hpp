// Vectors of doubles, as wide as the instruction set has them, and the modes in which they are computed with.
// Included once by each unit of one instruction set (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace espalier::reduce::ESPALIER_ISA {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
typedef double Doubles __attribute__((vector_size(vector_bytes)));
typedef std::int64_t Masks __attribute__((vector_size(vector_bytes)));
typedef float Floats __attribute__((vector_size(vector_bytes / 2)));
constexpr std::size_t lanes = vector_bytes / sizeof(double);

// Doubles from elements at any address, and back, rounded to the element.
[[gnu::always_inline]] inline Doubles load(const double* from) {
  Doubles vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
[[gnu::always_inline]] inline Doubles load(const float* from) {
  Floats vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return __builtin_convertvector(vector, Doubles);
}
[[gnu::always_inline]] inline void store(double* to, const Doubles& vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}
[[gnu::always_inline]] inline void store(float* to, const Doubles& vector) {
  const Floats narrow = __builtin_convertvector(vector, Floats);
  __builtin_memcpy(to, &narrow, sizeof narrow);
}
template <class Element>
[[gnu::always_inline]] inline double load_one(const Element* from) {
  Element element;
  __builtin_memcpy(&element, from, sizeof element);
  return static_cast<double>(element);
}

// The same functions on one double and on a vector of them.
[[gnu::always_inline]] inline double magnitude(double value) { return __builtin_fabs(value); }
[[gnu::always_inline]] inline Doubles magnitude(const Doubles& values) {
  return __builtin_bit_cast(Doubles, __builtin_bit_cast(Masks, values) & INT64_MAX);
}
[[gnu::always_inline]] inline double as_float(double value) { return static_cast<float>(value); }
[[gnu::always_inline]] inline Doubles as_float(const Doubles& values) {
  return __builtin_convertvector(__builtin_convertvector(values, Floats), Doubles);
}
[[gnu::always_inline]] inline bool all(const Masks& conditions) {
  std::int64_t every = -1;
  for (std::size_t i = 0; i < lanes; ++i) every &= conditions[i];
  return every != 0;
}

// What is exact below is so only when results are rounded to nearest and subnormals are numbers. The program may
// have set it otherwise (-ffast-math does), or want traps: it gets its modes back. A function that needs
// this is not inlined into the one that sets them, since compilers move arithmetic across the change.
class UsualModes {
 public:
#if defined(__x86_64__)
  UsualModes() : before_(_mm_getcsr()) {
    if ((before_ & controls) != masked) [[unlikely]]
      _mm_setcsr(masked);
  }
  ~UsualModes() {
    if ((before_ & controls) != masked) [[unlikely]]
      _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned controls = 0xffc0, masked = 0x1f80;
  const unsigned before_;
#elif defined(__aarch64__)
  UsualModes() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
    if (before_ != 0) set(0);
  }
  ~UsualModes() {
    if (before_ != 0) set(before_);
  }

 private:
  static void set(std::uint64_t modes) { __asm__ volatile("msr fpcr, %0" : : "r"(modes) : "memory"); }
  std::uint64_t before_;
#else
  UsualModes() {}
#endif

 public:
  UsualModes(const UsualModes&) = delete;
  UsualModes& operator=(const UsualModes&) = delete;
};

// A sum and what its rounding has lost: a + b = sum + error, exactly (Knuth, The Art of Computer Programming 2,
// 4.2.2, theorem B).
template <class V>
struct SumAndError {
  V sum, error;
};
template <class V>
[[gnu::always_inline]] inline SumAndError<V> two_sum(const V& a, const V& b) {
  const V sum = a + b;
  const V of_b = sum - a;
  const V of_a = sum - of_b;
  return {sum, (a - of_a) + (b - of_b)};
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
