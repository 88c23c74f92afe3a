// One pass over two, three, four or eight sources, and a copy. Included once by each unit of one instruction
// set (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <type_traits>

#include "reduce/half.hpp"
#include "reduce/rules.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// An element at any address, that may be part of an object of any type.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Cell {
  T value;
  T load() const { return value; }
  void store(T element) { value = element; }
};

// Value and index one by one, so that padding is neither read nor written.
template <class V, class I>
struct [[gnu::may_alias]] Cell<Pair<V, I>> {
  unsigned char bytes[sizeof(Pair<V, I>)];
  static constexpr std::size_t index_place = __builtin_offsetof(Pair<V, I>, index);
  Pair<V, I> load() const {
    return {reinterpret_cast<const Cell<V>*>(bytes)->value,
            reinterpret_cast<const Cell<I>*>(bytes + index_place)->value};
  }
  void store(Pair<V, I> pair) {
#if defined(__x86_64__) || defined(__i386__)
    // A long double has padding of its own, which a copy would write, but not the processor's store of its register.
    if constexpr (std::is_same_v<V, long double>) asm("" : "+t"(pair.value));
#endif
    reinterpret_cast<Cell<V>*>(bytes)->value = pair.value;
    reinterpret_cast<Cell<I>*>(bytes + index_place)->value = pair.index;
  }
};

template <class Rule>
[[gnu::always_inline]] inline auto widened(typename Rule::Element element) {
  if constexpr (requires { Rule::widen(element); })
    return Rule::widen(element);
  else
    return element;
}

// What a rule computes with: its element, or something wider.
template <class Rule>
using AccumulatorOf = decltype(widened<Rule>(typename Rule::Element{}));
template <class Rule>
constexpr bool computes_wider = sizeof(AccumulatorOf<Rule>) != sizeof(typename Rule::Element);

// What a pass reads as its first source and what it writes: elements, or accumulators of the passes beside it.
enum class From : bool { elements, accumulators };
enum class To : bool { elements, accumulators };

// One pass over N sources, where it is called. ivdep: the target is a source itself or overlaps none, so an
// element's store can only meet the loads of the same element, and those come first.
template <class Rule, int N, From from = From::elements, To to = To::elements>
[[gnu::always_inline]] inline void fold_here(void* target, const void* const* sources,
                                             std::size_t elements) noexcept {
  using C = Cell<typename Rule::Element>;
  using A = Cell<AccumulatorOf<Rule>>;
  static_assert(sizeof(C) == sizeof(typename Rule::Element));
  // A pointer of its own for each source: of an array of pointers the vectoriser gives up.
  const auto source = [sources](int k) { return static_cast<const C*>(sources[k < N ? k : 0]); };
  const C *const a = source(0), *const b = source(1), *const c = source(2), *const d = source(3);
  const C *const e = source(4), *const f = source(5), *const g = source(6), *const h = source(7);
  const std::size_t done = fold_halves < Rule, N, from == From::accumulators,
                    to == To::accumulators > (target, sources, elements);
#pragma GCC ivdep
  for (std::size_t i = done; i < elements; ++i) {
    AccumulatorOf<Rule> result;
    if constexpr (from == From::accumulators)
      result = static_cast<const A*>(sources[0])[i].load();
    else
      result = widened<Rule>(a[i].load());
    result = Rule::apply(result, widened<Rule>(b[i].load()));
    if constexpr (N > 2) result = Rule::apply(result, widened<Rule>(c[i].load()));
    if constexpr (N > 3) result = Rule::apply(result, widened<Rule>(d[i].load()));
    if constexpr (N > 4) result = Rule::apply(result, widened<Rule>(e[i].load()));
    if constexpr (N > 5) result = Rule::apply(result, widened<Rule>(f[i].load()));
    if constexpr (N > 6) result = Rule::apply(result, widened<Rule>(g[i].load()));
    if constexpr (N > 7) result = Rule::apply(result, widened<Rule>(h[i].load()));
    if constexpr (to == To::accumulators)
      static_cast<A*>(target)[i].store(result);
    else
      static_cast<C*>(target)[i].store(Rule::finish(result));
  }
}

template <class Rule, int N, From from = From::elements, To to = To::elements>
[[gnu::noinline]] void fold(void* target, const void* const* sources, std::size_t elements) noexcept {
  fold_here<Rule, N, from, to>(target, sources, elements);
}

template <class Element>
struct CopyOf {
  static void run(void* target, const void* source, std::size_t elements) noexcept {
    if (target != source && elements > 0) __builtin_memcpy(target, source, elements * sizeof(Element));
  }
};

template <class V, class I>
struct CopyOf<Pair<V, I>> {
  static void run(void* target, const void* source, std::size_t elements) noexcept {
    using C = Cell<Pair<V, I>>;
    for (std::size_t i = 0; i < elements; ++i)
      static_cast<C*>(target)[i].store(static_cast<const C*>(source)[i].load());
  }
};

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
