// How two elements become one, operator by operator. Included once by each unit of one instruction set (see
// catalogue.hpp), hence the unnamed namespace: no two units may share a function.
//
// A rule has Element, apply(a, b), and finish(r), which gives what is stored. One that computes wider than it
// stores has widen(element), too, and apply() is over what that gives: a call rounds once, when it stores.
#pragma once

#include <cstdint>

#include "reduce/representation.hpp"
#include "reduce/wide.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// The unsigned type that carries the arithmetic of T: wrap-around without undefined behaviour. Narrow ones
// are computed in 32 bits, since uint16 * uint16 would be promoted to, and overflow, int.
template <class T>
struct Carrier {
  using type = std::uint32_t;
};
template <>
struct Carrier<std::uint64_t> {
  using type = std::uint64_t;
};

#if ESPALIER_HAS_INT128
template <>
struct Carrier<Uint128> {
  using type = Uint128;
};
#endif

// Which of two NaN operands an addition hands on depends on the order the compiler gives it; one NaN for all
// does not.
template <class T>
T one_nan(T value) {
  return value == value ? value : static_cast<T>(__builtin_nanf(""));
}

template <class T>
struct Max {
  using Element = T;
  static T apply(T a, T b) {
    if (a > b) return a;
    return b;
  }
  static T finish(T r) { return r; }
};

template <class T>
struct Min {
  using Element = T;
  static T apply(T a, T b) {
    if (a < b) return a;
    return b;
  }
  static T finish(T r) { return r; }
};

// Of floats whose lower halves are zero, one is chosen bit for bit: nothing is rounded.
struct ChosenBFloat16 {
  using Element = BFloat16;
  static float widen(BFloat16 element) { return Wide<BFloat16>::widen(element); }
  static BFloat16 finish(float r) { return upper_half(r); }
};
template <>
struct Max<BFloat16> : ChosenBFloat16 {
  static float apply(float a, float b) { return a > b ? a : b; }
};
template <>
struct Min<BFloat16> : ChosenBFloat16 {
  static float apply(float a, float b) { return a < b ? a : b; }
};

template <class T>
struct IntegerSum {
  using Element = T;
  using C = typename Carrier<T>::type;
  static T apply(T a, T b) { return static_cast<T>(C{a} + C{b}); }
  static T finish(T r) { return r; }
};

template <class T>
struct IntegerProd {
  using Element = T;
  using C = typename Carrier<T>::type;
  static T apply(T a, T b) { return static_cast<T>(C{a} * C{b}); }
  static T finish(T r) { return r; }
};

template <class T>
struct FloatingSum {
  using Element = T;
  using W = typename Wide<T>::type;
  static W widen(T element) { return Wide<T>::widen(element); }
  static W apply(W a, W b) { return a + b; }
  static T finish(W r) { return Wide<T>::narrow(one_nan(r)); }
};

template <class T>
struct FloatingProd {
  using Element = T;
  using W = typename Wide<T>::type;
  static W widen(T element) { return Wide<T>::widen(element); }
  static W apply(W a, W b) { return a * b; }
  static T finish(W r) { return Wide<T>::narrow(one_nan(r)); }
};

template <class T>
struct ComplexProd {
  using Element = Complex<T>;
  static Element apply(Element a, Element b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
  static Element finish(Element r) { return {one_nan(r.real), one_nan(r.imaginary)}; }
};

template <class T>
struct LogicalAnd {
  using Element = T;
  static T apply(T a, T b) { return static_cast<T>((a != 0) & (b != 0)); }
  static T finish(T r) { return r; }
};

template <class T>
struct LogicalOr {
  using Element = T;
  static T apply(T a, T b) { return static_cast<T>((a | b) != 0); }
  static T finish(T r) { return r; }
};

template <class T>
struct LogicalXor {
  using Element = T;
  static T apply(T a, T b) { return static_cast<T>((a != 0) ^ (b != 0)); }
  static T finish(T r) { return r; }
};

template <class T>
struct BitAnd {
  using Element = T;
  static T apply(T a, T b) { return static_cast<T>(a & b); }
  static T finish(T r) { return r; }
};

template <class T>
struct BitOr {
  using Element = T;
  static T apply(T a, T b) { return static_cast<T>(a | b); }
  static T finish(T r) { return r; }
};

template <class T>
struct BitXor {
  using Element = T;
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
  static T finish(T r) { return r; }
};

template <class V, class I>
struct MaxLoc {
  using Element = Pair<V, I>;
  static Element apply(Element a, Element b) {
    const bool first = (a.value > b.value) | ((a.value == b.value) & (a.index < b.index));
    return {first ? a.value : b.value, first ? a.index : b.index};
  }
  static Element finish(Element r) { return r; }
};

template <class V, class I>
struct MinLoc {
  using Element = Pair<V, I>;
  static Element apply(Element a, Element b) {
    const bool first = (a.value < b.value) | ((a.value == b.value) & (a.index < b.index));
    return {first ? a.value : b.value, first ? a.index : b.index};
  }
  static Element finish(Element r) { return r; }
};

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
