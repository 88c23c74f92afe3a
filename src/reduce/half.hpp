// Half precision in vectors: GCC 12 does not vectorise its conversions. Included once by each unit of one
// instruction set (see catalogue.hpp).
#pragma once

#include <cstddef>

#include "reduce/rules.hpp"

#if defined(__F16C__) && ESPALIER_HAS_FLOAT16
#include <immintrin.h>
#endif

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// fold() says how many elements were done: 0 for all rules but those below, whose lengths of `lanes` are. It is
// given whether the first source, and the target, are accumulators.
template <class Rule>
struct Halves {
  static constexpr std::size_t lanes = 0;
  template <int N, bool from_accumulators, bool to_accumulators>
  static std::size_t fold(void*, const void* const*, std::size_t) noexcept {
    return 0;
  }
};

#if defined(__F16C__) && ESPALIER_HAS_FLOAT16

// Sixteen bytes of halves, or thirty-two with AVX-512: loaded, stored, and as floats.
#if defined(__AVX512F__)
// (GCC 12 takes the register that the forms without a mask leave alone for one that is used uninitialised.)
struct Lanes {
  using Packed = __m256i;
  using Floats = __m512;
  static Packed load(const Float16* from) {
    return _mm256_loadu_si256(reinterpret_cast<const Packed*>(from));
  }
  static void store(Float16* to, Packed halves) {
    _mm256_storeu_si256(reinterpret_cast<Packed*>(to), halves);
  }
  static Floats load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Floats floats) { _mm512_storeu_ps(to, floats); }
  static Floats widen(Packed halves) { return _mm512_maskz_cvtph_ps(0xffff, halves); }
  // NaNs, as one_nan() has them, else rounded.
  static Packed narrow(Floats floats) {
    const __mmask16 is_nan = _mm512_cmp_ps_mask(floats, floats, _CMP_UNORD_Q);
    return _mm256_mask_blend_epi16(is_nan, _mm512_maskz_cvtps_ph(0xffff, floats, _MM_FROUND_CUR_DIRECTION),
                                   _mm256_set1_epi16(0x7e00));
  }
  static Floats sum(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats product(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  // The halves themselves are chosen, so that a NaN keeps its bits.
  static Packed greater(Packed a, Packed b) {
    return _mm256_mask_blend_epi16(_mm512_cmp_ps_mask(widen(a), widen(b), _CMP_GT_OQ), b, a);
  }
  static Packed less(Packed a, Packed b) {
    return _mm256_mask_blend_epi16(_mm512_cmp_ps_mask(widen(a), widen(b), _CMP_LT_OQ), b, a);
  }
};
#else
struct Lanes {
  using Packed = __m128i;
  using Floats = __m256;
  static Packed load(const Float16* from) { return _mm_loadu_si128(reinterpret_cast<const Packed*>(from)); }
  static void store(Float16* to, Packed halves) { _mm_storeu_si128(reinterpret_cast<Packed*>(to), halves); }
  static Floats load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Floats floats) { _mm256_storeu_ps(to, floats); }
  static Floats widen(Packed halves) { return _mm256_cvtph_ps(halves); }
  static Packed narrow(Floats floats) {
    return choose(_mm_set1_epi16(0x7e00), _mm256_cvtps_ph(floats, _MM_FROUND_CUR_DIRECTION),
                  _mm256_cmp_ps(floats, floats, _CMP_UNORD_Q));
  }
  static Floats sum(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats product(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Packed greater(Packed a, Packed b) {
    return choose(a, b, _mm256_cmp_ps(widen(a), widen(b), _CMP_GT_OQ));
  }
  static Packed less(Packed a, Packed b) {
    return choose(a, b, _mm256_cmp_ps(widen(a), widen(b), _CMP_LT_OQ));
  }

 private:
  // a where the floats say so, else b.
  static Packed choose(Packed a, Packed b, Floats first) {
    const __m256i mask = _mm256_castps_si256(first);
    return _mm_blendv_epi8(b, a,
                           _mm_packs_epi32(_mm256_castsi256_si128(mask), _mm256_extracti128_si256(mask, 1)));
  }
};
#endif

// Folded as floats, and rounded once.
template <Lanes::Floats (*apply)(Lanes::Floats, Lanes::Floats)>
struct HalvesAsFloats {
  static constexpr std::size_t lanes = sizeof(Lanes::Packed) / sizeof(Float16);
  template <int N, bool from_accumulators, bool to_accumulators>
  static std::size_t fold(void* target, const void* const* sources, std::size_t elements) noexcept {
    const auto half = [sources](int k, std::size_t i) {
      return Lanes::widen(Lanes::load(static_cast<const Float16*>(sources[k]) + i));
    };
    std::size_t i = 0;
    for (; i + lanes <= elements; i += lanes) {
      Lanes::Floats result;
      if constexpr (from_accumulators)
        result = Lanes::load(static_cast<const float*>(sources[0]) + i);
      else
        result = half(0, i);
      for (int k = 1; k < N; ++k) result = apply(result, half(k, i));
      if constexpr (to_accumulators)
        Lanes::store(static_cast<float*>(target) + i, result);
      else
        Lanes::store(static_cast<Float16*>(target) + i, Lanes::narrow(result));
    }
    return i;
  }
};

template <Lanes::Packed (*apply)(Lanes::Packed, Lanes::Packed)>
struct HalvesChosen {
  static constexpr std::size_t lanes = sizeof(Lanes::Packed) / sizeof(Float16);
  template <int N, bool, bool>
  static std::size_t fold(void* target, const void* const* sources, std::size_t elements) noexcept {
    const auto at = [sources](int k, std::size_t i) {
      return Lanes::load(static_cast<const Float16*>(sources[k]) + i);
    };
    std::size_t i = 0;
    for (; i + lanes <= elements; i += lanes) {
      Lanes::Packed result = at(0, i);
      for (int k = 1; k < N; ++k) result = apply(result, at(k, i));
      Lanes::store(static_cast<Float16*>(target) + i, result);
    }
    return i;
  }
};

template <>
struct Halves<FloatingSum<Float16>> : HalvesAsFloats<Lanes::sum> {};
template <>
struct Halves<FloatingProd<Float16>> : HalvesAsFloats<Lanes::product> {};
template <>
struct Halves<Max<Float16>> : HalvesChosen<Lanes::greater> {};
template <>
struct Halves<Min<Float16>> : HalvesChosen<Lanes::less> {};

#endif

template <class Rule, int N, bool from_accumulators, bool to_accumulators>
std::size_t fold_halves(void* target, const void* const* sources, std::size_t elements) noexcept {
  return Halves<Rule>::template fold<N, from_accumulators, to_accumulators>(target, sources, elements);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
