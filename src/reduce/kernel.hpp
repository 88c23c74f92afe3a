// The kernel of a rule: which loop serves a call. Included once by each unit of one instruction set (see
// catalogue.hpp).
#pragma once

#include <cstddef>

#include "reduce/blocks.hpp"
#include "reduce/streamed.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// The kernel of a rule. Parts: how many of the rule's elements make one of the type's (2 for a complex sum).
template <class Rule, int Parts = 1>
void kernel(void* target, const void* const* sources, int source_count, std::size_t elements) noexcept {
  using Element = typename Rule::Element;
  static constexpr Passes passes = passes_of<Rule>();
  elements *= Parts;
  if (source_count == 1) return CopyOf<Element>::run(target, sources[0], elements);
  if constexpr (can_stream) {
    static constexpr StreamedPasses streamed = streamed_passes_of<Rule>();
    if (streams(target, sources, source_count, elements * sizeof(Element), sizeof(Element)))
      return fold_streamed(passes, streamed, target, sources, source_count, elements);
  }
  switch (source_count) {
    case 2:
      return fold<Rule, 2>(target, sources, elements);
    case 3:
      return fold<Rule, 3>(target, sources, elements);
    case 4:
      return fold<Rule, 4>(target, sources, elements);
    case 8:
      if constexpr (passes.widest == 8) return fold<Rule, 8>(target, sources, elements);
      [[fallthrough]];
    default:
      return fold_blocks(passes, target, sources, source_count, elements);
  }
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
