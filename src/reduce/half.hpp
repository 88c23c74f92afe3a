// Half precision eight at a time: GCC 12 does not vectorise its conversions. Included once by each unit of
// one instruction set (see catalogue.hpp).
#pragma once

#include <cstddef>

#include "reduce/rules.hpp"

#if defined(__F16C__) && ESPALIER_HAS_FLOAT16
#include <immintrin.h>
#endif

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// fold() says how many elements were done: 0 for all rules but those below, whose lengths of `lanes` are.
template <class Rule>
struct Halves {
  static constexpr std::size_t lanes = 0;
  template <int N>
  static std::size_t fold(void*, const void* const*, std::size_t) noexcept {
    return 0;
  }
};

#if defined(__F16C__) && ESPALIER_HAS_FLOAT16

__m256 widen(__m128i halves) { return _mm256_cvtph_ps(halves); }

__m128i narrow(__m256 floats) { return _mm256_cvtps_ph(floats, _MM_FROUND_CUR_DIRECTION); }

__m128i canonical(__m128i halves) {
  const __m128i magnitude = _mm_and_si128(halves, _mm_set1_epi16(0x7fff));
  const __m128i is_nan = _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7c00));
  return _mm_blendv_epi8(halves, _mm_set1_epi16(0x7e00), is_nan);
}

// a where the floats say so, else b: the halves themselves are chosen, so that a NaN keeps its bits.
__m128i choose(__m128i a, __m128i b, __m256 first) {
  const __m256i mask = _mm256_castps_si256(first);
  const __m128i narrow_mask =
      _mm_packs_epi32(_mm256_castsi256_si128(mask), _mm256_extracti128_si256(mask, 1));
  return _mm_blendv_epi8(b, a, narrow_mask);
}

struct HalfSum {
  static __m128i apply(__m128i a, __m128i b) { return narrow(_mm256_add_ps(widen(a), widen(b))); }
  static __m128i finish(__m128i r) { return canonical(r); }
};
struct HalfProd {
  static __m128i apply(__m128i a, __m128i b) { return narrow(_mm256_mul_ps(widen(a), widen(b))); }
  static __m128i finish(__m128i r) { return canonical(r); }
};
struct HalfMax {
  static __m128i apply(__m128i a, __m128i b) {
    return choose(a, b, _mm256_cmp_ps(widen(a), widen(b), _CMP_GT_OQ));
  }
  static __m128i finish(__m128i r) { return r; }
};
struct HalfMin {
  static __m128i apply(__m128i a, __m128i b) {
    return choose(a, b, _mm256_cmp_ps(widen(a), widen(b), _CMP_LT_OQ));
  }
  static __m128i finish(__m128i r) { return r; }
};

template <class Lanes>
struct HalvesBy {
  static constexpr std::size_t lanes = 8;
  template <int N>
  static std::size_t fold(void* target, const void* const* sources, std::size_t elements) noexcept {
    const auto at = [sources](int k, std::size_t i) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(static_cast<const Float16*>(sources[k]) + i));
    };
    std::size_t i = 0;
    for (; i + lanes <= elements; i += lanes) {
      __m128i result = at(0, i);
      for (int k = 1; k < N; ++k) result = Lanes::apply(result, at(k, i));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(static_cast<Float16*>(target) + i), Lanes::finish(result));
    }
    return i;
  }
};

template <>
struct Halves<FloatingSum<Float16>> : HalvesBy<HalfSum> {};
template <>
struct Halves<FloatingProd<Float16>> : HalvesBy<HalfProd> {};
template <>
struct Halves<Max<Float16>> : HalvesBy<HalfMax> {};
template <>
struct Halves<Min<Float16>> : HalvesBy<HalfMin> {};

#endif

template <class Rule, int N>
std::size_t fold_halves(void* target, const void* const* sources, std::size_t elements) noexcept {
  return Halves<Rule>::template fold<N>(target, sources, elements);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
