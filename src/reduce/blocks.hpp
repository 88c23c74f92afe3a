// Any number of sources, block by block. Included once by each unit of one instruction set (see
// catalogue.hpp).
#pragma once

#include <cstddef>

#include "reduce/fold.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

using Fold = void (*)(void*, const void* const*, std::size_t) noexcept;

// Passes of eight save loads and stores between passes, which is the better part of the time only where the
// arithmetic is a few vector instructions: not for pairs and types without vectors, whose code this spares.
template <class Element>
constexpr int widest_pass = sizeof(Element) <= 8 ? 8 : 4;
template <class V, class I>
constexpr int widest_pass<Pair<V, I>> = 4;

// The passes of one rule that read and write the same, by the number of sources; no eight where the widest is 4.
struct Widths {
  Fold two, three, four, eight;
};

template <class Rule, From from, To to>
constexpr Widths widths_of() {
  constexpr int widest = widest_pass<typename Rule::Element>;
  return {fold<Rule, 2, from, to>, fold<Rule, 3, from, to>, fold<Rule, 4, from, to>,
          widest < 8 ? nullptr : fold<Rule, widest, from, to>};
}

// The passes of one rule, so that what follows exists once and not once per rule: the only pass of a block, its
// first, those between, and its last.
struct Passes {
  Widths only, first, between, last;
  int widest;
  std::size_t size;         // of an element
  std::size_t accumulator;  // bytes for an element between passes
};

template <class Rule>
constexpr Passes passes_of() {
  constexpr Widths only = widths_of<Rule, From::elements, To::elements>();
  constexpr int widest = widest_pass<typename Rule::Element>;
  constexpr std::size_t size = sizeof(typename Rule::Element);
  if constexpr (computes_wider<Rule>)
    return {only,
            widths_of<Rule, From::elements, To::accumulators>(),
            widths_of<Rule, From::accumulators, To::accumulators>(),
            widths_of<Rule, From::accumulators, To::elements>(),
            widest,
            size,
            sizeof(AccumulatorOf<Rule>)};
  else
    return {only, only, only, only, widest, size, size};
}

// The most sources that one pass can take of those that are left.
int width_of_pass(const Passes& passes, int left) noexcept {
  return left >= passes.widest ? passes.widest : left >= 4 ? 4 : left;
}

Fold pass_of(const Passes& passes, bool is_first, bool is_last, int width) noexcept {
  const Widths& widths =
      is_first ? (is_last ? passes.only : passes.first) : (is_last ? passes.last : passes.between);
  switch (width) {
    case 2:
      return widths.two;
    case 3:
      return widths.three;
    case 4:
      return widths.four;
    default:
      return widths.eight;
  }
}

// What is between the passes over one block; small enough to stay in L1 beside the blocks of seven sources.
constexpr std::size_t block_bytes = 4096;

// One block through all sources, pass after pass. Between passes it is in scratch, as accumulators, since the
// target may be one of the later sources. Scratch may be the target where accumulators are elements.
void fold_block(const Passes& passes, void* target, unsigned char* scratch, const void* const* sources,
                int source_count, std::size_t offset, std::size_t count) noexcept {
  const void* inputs[8];
  int filled = 0;
  for (int k = 0; k < source_count;) {
    const int width = width_of_pass(passes, filled + source_count - k);
    while (filled < width) inputs[filled++] = static_cast<const unsigned char*>(sources[k++]) + offset;
    const bool is_first = k == width, is_last = k == source_count;
    pass_of(passes, is_first, is_last, width)(is_last ? target : scratch, inputs, count);
    inputs[0] = scratch;
    filled = 1;
  }
}

// Block by block, each carried through all sources before the next: so each source is read once and the
// target written once.
[[gnu::noinline]] void fold_blocks(const Passes& passes, void* target, const void* const* sources,
                                   int source_count, std::size_t elements) noexcept {
  alignas(64) unsigned char scratch[block_bytes];
  const std::size_t block = block_bytes / passes.accumulator;
  for (std::size_t first = 0; first < elements; first += block) {
    const std::size_t count = elements - first < block ? elements - first : block;
    const std::size_t offset = first * passes.size;
    fold_block(passes, static_cast<unsigned char*>(target) + offset, scratch, sources, source_count, offset,
               count);
  }
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
