// Any number of sources, block by block. Included once by each unit of one instruction set (see
// catalogue.hpp).
#pragma once

#include <cstddef>

#include "reduce/fold.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

using Fold = void (*)(void*, const void* const*, std::size_t) noexcept;

// The passes of one rule, so that what follows exists once and not once per rule.
struct Passes {
  Fold two, three, four, eight;  // no eight where widest is 4
  int widest;
  std::size_t size;  // of an element
};

// Passes of eight save loads and stores between passes, which is the better part of the time only where the
// arithmetic is a few vector instructions: not for pairs and types without vectors, whose code this spares.
template <class Element>
constexpr int widest_pass = sizeof(Element) <= 8 ? 8 : 4;
template <class V, class I>
constexpr int widest_pass<Pair<V, I>> = 4;

template <class Rule>
constexpr Passes passes_of() {
  using Element = typename Rule::Element;
  constexpr int widest = widest_pass<Element>;
  return {fold<Rule, 2>, fold<Rule, 3>,  fold<Rule, 4>, widest < 8 ? nullptr : fold<Rule, widest>,
          widest,        sizeof(Element)};
}

// The most sources that one pass can take of those that are left.
int width_of_pass(const Passes& passes, int left) noexcept {
  return left >= passes.widest ? passes.widest : left >= 4 ? 4 : left;
}

Fold pass_of(const Passes& passes, int width) noexcept {
  switch (width) {
    case 2:
      return passes.two;
    case 3:
      return passes.three;
    case 4:
      return passes.four;
    default:
      return passes.eight;
  }
}

// What is between the passes over one block; small enough to stay in L1 beside the blocks of seven sources.
constexpr std::size_t block_bytes = 4096;

// One block through all sources, pass after pass. Between passes it is in scratch, since the target may be
// one of the later sources; scratch may be the target.
void fold_block(const Passes& passes, void* target, unsigned char* scratch, const void* const* sources,
                int source_count, std::size_t offset, std::size_t count) noexcept {
  const void* inputs[8];
  int filled = 0;
  for (int k = 0; k < source_count;) {
    const int width = width_of_pass(passes, filled + source_count - k);
    while (filled < width) inputs[filled++] = static_cast<const unsigned char*>(sources[k++]) + offset;
    pass_of(passes, width)(k < source_count ? scratch : target, inputs, count);
    inputs[0] = scratch;
    filled = 1;
  }
}

// Block by block, each carried through all sources before the next: so each source is read once and the
// target written once.
[[gnu::noinline]] void fold_blocks(const Passes& passes, void* target, const void* const* sources,
                                   int source_count, std::size_t elements) noexcept {
  alignas(64) unsigned char scratch[block_bytes];
  const std::size_t block = block_bytes / passes.size;
  for (std::size_t first = 0; first < elements; first += block) {
    const std::size_t count = elements - first < block ? elements - first : block;
    const std::size_t offset = first * passes.size;
    fold_block(passes, static_cast<unsigned char*>(target) + offset, scratch, sources, source_count, offset,
               count);
  }
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
