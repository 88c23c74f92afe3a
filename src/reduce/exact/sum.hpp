// The sum of an element over all sources, rounded once: reduce's kernel for exact sums. Included once by each unit
// of one instruction set (see catalogue.hpp); all sets give the same bits, since there is one right result.
//
// Error-free transformations (Ogita, Rump, Oishi, "Accurate sum and dot product", 2005) carry what each addition
// loses. Where that does not prove that the result is right, as of infinities, or where the range of exponents is
// wide, the long accumulator (accumulator.hpp) does that element.
#pragma once

#include <cstddef>

#include "reduce/exact/accumulator.hpp"
#include "reduce/exact/vectors.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// What is known of a sum when its operands have been seen; `certain` where `value` is the right result.
template <class V, class Condition>
struct Outcome {
  V value;
  Condition certain;
};

// Of doubles: operands = total + error + rest, where rest is exact if `lost` is 0; else it is wrong by less than
// 2^-52 n lost after n operands.
template <class V>
struct DoubleSum {
  V total, error, rest, lost;

  [[gnu::always_inline]] DoubleSum(const V& first, const V& second) : rest{} {
    const SumAndError<V> both = two_sum(first, second);
    total = both.sum;
    error = both.error;
    lost = error - error;  // 0, or NaN
  }

  [[gnu::always_inline]] void add(const V& value) {
    const SumAndError<V> upper = two_sum(total, value);
    const SumAndError<V> middle = two_sum(error, upper.error);
    total = upper.sum;
    error = middle.sum;
    rest += middle.error;
    lost += magnitude(middle.error);
  }

  // Where nothing is lost: two numbers are the sum, and one addition rounds it.
  [[gnu::always_inline]] auto finish_plainly() const {
    const V zero{};
    const V sum = total + error;
    const auto certain = (lost == zero) & (sum - sum == zero);
    // Of zeros alone the plain sum has the right sign.
    const V value = ((sum == zero) & (total == zero)) ? total : sum;
    return Outcome<V, decltype(certain)>{value, certain};
  }

  // Rounding is monotone: when both ends of an interval around the exact sum round to the same number, so does
  // the sum. Half of the interval is what is not in its two upper parts, doubled, and 2^-50 of the lower one of
  // these, for the roundings of the ends themselves.
  [[gnu::always_inline]] auto finish(int operands) const {
    const SumAndError<V> once = two_sum(total, error);
    const SumAndError<V> below = two_sum(once.error, rest);
    const SumAndError<V> high = two_sum(once.sum, below.sum);
    const V zero{};
    const V margin =
        2.0 * magnitude(below.error) + 0x1p-50 * magnitude(high.error) + (0x1p-51 * operands) * lost;
    const auto kept =
        (high.sum + (high.error + margin) == high.sum) & (high.sum + (high.error - margin) == high.sum);
    const auto finite = high.sum - high.sum == zero;
    const auto certain = ((lost == zero) | kept) & finite;
    const V value = ((high.sum == zero) & (total == zero)) ? total : high.sum;
    return Outcome<V, decltype(certain)>{value, certain};
  }
};

// Of floats, as doubles: the same with one double, for it loses little, and mostly nothing.
template <class V>
struct FloatSum {
  V total, lost;

  [[gnu::always_inline]] FloatSum(const V& first, const V& second) {
    const SumAndError<V> both = two_sum(first, second);
    total = both.sum;
    lost = magnitude(both.error);
  }

  [[gnu::always_inline]] void add(const V& value) {
    const SumAndError<V> next = two_sum(total, value);
    total = next.sum;
    lost += magnitude(next.error);
  }

  [[gnu::always_inline]] auto finish_plainly() const {
    const V zero{};
    const auto certain = (lost == zero) & (total - total == zero);
    return Outcome<V, decltype(certain)>{total, certain};
  }

  [[gnu::always_inline]] auto finish(int) const {
    const V zero{};
    const V margin = 2.0 * lost + 0x1p-52 * magnitude(total);
    const auto kept = as_float(total + margin) == as_float(total - margin);
    const auto finite = total - total == zero;
    const auto certain = ((lost == zero) | kept) & finite;
    return Outcome<V, decltype(certain)>{total, certain};
  }
};

template <class Element, class V>
struct SumOf {
  using type = DoubleSum<V>;
};
template <class V>
struct SumOf<float, V> {
  using type = FloatSum<V>;
};

template <class Element>
Element rounded(const exact::Accumulator& sum) {
  if constexpr (sizeof(Element) == sizeof(float))
    return exact::to_float(sum);
  else
    return exact::to_double(sum);
}

template <class Element>
[[gnu::noinline, gnu::cold]] Element sum_by_accumulator(const void* const* sources, int source_count,
                                                        std::size_t place) noexcept {
  exact::Accumulator sum{};
  for (int k = 0; k < source_count; ++k)
    exact::add(sum, load_one(static_cast<const Element*>(sources[k]) + place));
  return rounded<Element>(sum);
}

template <class Element>
[[gnu::noinline]] void sum_exactly_in_usual_modes(Element* target, const void* const* sources,
                                                  int source_count, std::size_t elements) noexcept {
  const auto source = [sources](int k) { return static_cast<const Element*>(sources[k]); };
  std::size_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    typename SumOf<Element, Doubles>::type sum(load(source(0) + i), load(source(1) + i));
    for (int k = 2; k < source_count; ++k) sum.add(load(source(k) + i));
    const auto plain = sum.finish_plainly();
    if (all(plain.certain)) [[likely]] {
      store(target + i, plain.value);
      continue;
    }
    const auto outcome = sum.finish(source_count);
    // The target may be a source: all lanes are computed before one is stored.
    Element results[lanes];
    store(results, outcome.value);
    if (!all(outcome.certain)) [[unlikely]]
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (outcome.certain[lane] == 0)
          results[lane] = sum_by_accumulator<Element>(sources, source_count, i + lane);
    __builtin_memcpy(target + i, results, sizeof results);
  }
  for (; i < elements; ++i) {
    typename SumOf<Element, double>::type sum(load_one(source(0) + i), load_one(source(1) + i));
    for (int k = 2; k < source_count; ++k) sum.add(load_one(source(k) + i));
    const auto outcome = sum.finish(source_count);
    const Element result = outcome.certain ? static_cast<Element>(outcome.value)
                                           : sum_by_accumulator<Element>(sources, source_count, i);
    __builtin_memcpy(target + i, &result, sizeof result);
  }
}

// Of two operands the plain sum is the exact one, rounded once; so it is of floats that are added as doubles,
// which have more than twice their digits (Figueroa, "When is double rounding innocuous?", 1995).
template <class V>
[[gnu::always_inline]] inline V sum_of_two(const V& a, const V& b) {
  const V sum = a + b;
  return sum == sum ? sum : V{} + __builtin_nan("");
}

template <class Element>
[[gnu::noinline]] void sum_two_in_usual_modes(Element* target, const Element* a, const Element* b,
                                              std::size_t elements) noexcept {
  std::size_t i = 0;
  for (; i + lanes <= elements; i += lanes) store(target + i, sum_of_two(load(a + i), load(b + i)));
  for (; i < elements; ++i) {
    const auto result = static_cast<Element>(sum_of_two(load_one(a + i), load_one(b + i)));
    __builtin_memcpy(target + i, &result, sizeof result);
  }
}

// Parts: as in kernel().
template <class Element, int Parts = 1>
void sum_exactly(void* target, const void* const* sources, int source_count, std::size_t elements) noexcept {
  elements *= Parts;
  if (source_count == 1) {
    if (target != sources[0] && elements > 0)
      __builtin_memcpy(target, sources[0], elements * sizeof(Element));
    return;
  }
  const UsualModes modes;
  if (source_count == 2)
    return sum_two_in_usual_modes(static_cast<Element*>(target), static_cast<const Element*>(sources[0]),
                                  static_cast<const Element*>(sources[1]), elements);
  sum_exactly_in_usual_modes(static_cast<Element*>(target), sources, source_count, elements);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
