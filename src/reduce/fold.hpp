// One pass over two, three, four or eight sources, and a copy. Included once by each unit of one instruction
// set (see catalogue.hpp).
#pragma once

#include <cstddef>

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
    reinterpret_cast<Cell<V>*>(bytes)->value = pair.value;
    reinterpret_cast<Cell<I>*>(bytes + index_place)->value = pair.index;
  }
};

// One pass over N sources, where it is called. ivdep: the target is a source itself or overlaps none, so an
// element's store can only meet the loads of the same element, and those come first.
template <class Rule, int N>
[[gnu::always_inline]] inline void fold_here(void* target, const void* const* sources,
                                             std::size_t elements) noexcept {
  using C = Cell<typename Rule::Element>;
  static_assert(sizeof(C) == sizeof(typename Rule::Element));
  // A pointer of its own for each source: of an array of pointers the vectoriser gives up.
  const auto source = [sources](int k) { return static_cast<const C*>(sources[k < N ? k : 0]); };
  auto* const t = static_cast<C*>(target);
  const C *const a = source(0), *const b = source(1), *const c = source(2), *const d = source(3);
  const C *const e = source(4), *const f = source(5), *const g = source(6), *const h = source(7);
  const std::size_t done = fold_halves<Rule, N>(target, sources, elements);
#pragma GCC ivdep
  for (std::size_t i = done; i < elements; ++i) {
    auto result = Rule::apply(a[i].load(), b[i].load());
    if constexpr (N > 2) result = Rule::apply(result, c[i].load());
    if constexpr (N > 3) result = Rule::apply(result, d[i].load());
    if constexpr (N > 4) result = Rule::apply(result, e[i].load());
    if constexpr (N > 5) result = Rule::apply(result, f[i].load());
    if constexpr (N > 6) result = Rule::apply(result, g[i].load());
    if constexpr (N > 7) result = Rule::apply(result, h[i].load());
    t[i].store(Rule::finish(result));
  }
}

template <class Rule, int N>
[[gnu::noinline]] void fold(void* target, const void* const* sources, std::size_t elements) noexcept {
  fold_here<Rule, N>(target, sources, elements);
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
