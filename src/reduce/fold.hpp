// The loops: two, three or four sources in one pass, more of them block by block. Included once by each unit
// of one instruction set (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/half.hpp"
#include "reduce/rules.hpp"
#include "reduce/stream.hpp"

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

// One pass over N sources. ivdep: the target is a source itself or overlaps none, so an element's store can
// only meet the loads of the same element, and those come first.
template <class Rule, int N>
[[gnu::noinline]] void fold(void* target, const void* const* sources, std::size_t elements) noexcept {
  using C = Cell<typename Rule::Element>;
  static_assert(sizeof(C) == sizeof(typename Rule::Element));
  auto* const t = static_cast<C*>(target);
  const auto* const a = static_cast<const C*>(sources[0]);
  const auto* const b = static_cast<const C*>(sources[1]);
  const auto* const c = static_cast<const C*>(sources[N > 2 ? 2 : 0]);
  const auto* const d = static_cast<const C*>(sources[N > 3 ? 3 : 0]);
  const std::size_t done = fold_halves<Rule, N>(target, sources, elements);
#pragma GCC ivdep
  for (std::size_t i = done; i < elements; ++i) {
    auto result = Rule::apply(a[i].load(), b[i].load());
    if constexpr (N > 2) result = Rule::apply(result, c[i].load());
    if constexpr (N > 3) result = Rule::apply(result, d[i].load());
    t[i].store(Rule::finish(result));
  }
}

template <class Element>
struct CopyOf {
  static void run(void* target, const void* source, std::size_t elements) noexcept {
    if (target != source) __builtin_memcpy(target, source, elements * sizeof(Element));
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

using Fold = void (*)(void*, const void* const*, std::size_t) noexcept;

// The passes of one rule, so that what follows exists once and not once per rule.
struct Passes {
  Fold two, three, four;
  std::size_t size;  // of an element
};

// What is between the passes over one block; small enough to stay in L1 beside the blocks of three sources.
constexpr std::size_t block_bytes = 4096;

// One block through all sources, in passes of at most four. Between passes it is in scratch, since the target
// may be one of the later sources; scratch may be the target.
void fold_block(const Passes& passes, void* target, unsigned char* scratch, const void* const* sources,
                int source_count, std::size_t offset, std::size_t count) noexcept {
  const void* inputs[4];
  int filled = 0;
  for (int k = 0; k < source_count;) {
    while (filled < 4 && k < source_count)
      inputs[filled++] = static_cast<const unsigned char*>(sources[k++]) + offset;
    const Fold pass = filled == 2 ? passes.two : filled == 3 ? passes.three : passes.four;
    pass(k < source_count ? scratch : target, inputs, count);
    inputs[0] = scratch;
    filled = 1;
  }
}

// Block by block, each carried through all sources before the next: so each source is read once and the
// target written once.
[[gnu::noinline]] void fold_blocks(const Passes& passes, void* target, const void* const* sources,
                                   int source_count, std::size_t elements, bool stream) noexcept {
  alignas(64) unsigned char scratch[block_bytes];
  // Half as much when streamed measures better: reading and writing take turns more often.
  const std::size_t block = (stream ? block_bytes / 2 : block_bytes) / passes.size;
  // Streamed: the first block ends where the target's first full line begins.
  const std::size_t head =
      stream ? -reinterpret_cast<std::uintptr_t>(target) % line_bytes / passes.size : std::size_t{0};
  std::size_t count = head ? head : block;
  for (std::size_t first = 0; first < elements; first += count, count = block) {
    if (elements - first < count) count = elements - first;
    const std::size_t offset = first * passes.size;
    unsigned char* const out = static_cast<unsigned char*>(target) + offset;
    fold_block(passes, stream ? scratch : out, scratch, sources, source_count, offset, count);
    if (stream) {
      const std::size_t bytes = count * passes.size;
      stream_out(out, scratch, bytes, sources, source_count, offset + bytes);
    }
  }
  if (stream) stream_end();
}

template <class Rule>
constexpr Passes passes_of{fold<Rule, 2>, fold<Rule, 3>, fold<Rule, 4>, sizeof(typename Rule::Element)};

// The kernel of a rule. Parts: how many of the rule's elements make one of the type's (2 for a complex sum).
template <class Rule, int Parts = 1>
void kernel(void* target, const void* const* sources, int source_count, std::size_t elements) noexcept {
  using Element = typename Rule::Element;
  elements *= Parts;
  if (source_count == 1) return CopyOf<Element>::run(target, sources[0], elements);
  if (streams(target, sources, source_count, elements * sizeof(Element), sizeof(Element)))
    return fold_blocks(passes_of<Rule>, target, sources, source_count, elements, true);
  switch (source_count) {
    case 2:
      return fold<Rule, 2>(target, sources, elements);
    case 3:
      return fold<Rule, 3>(target, sources, elements);
    case 4:
      return fold<Rule, 4>(target, sources, elements);
    default:
      return fold_blocks(passes_of<Rule>, target, sources, source_count, elements, false);
  }
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
