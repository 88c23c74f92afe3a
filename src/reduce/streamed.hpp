// Sources into a target that is written past the caches. Included once by each unit of one instruction set
// (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/blocks.hpp"
#include "reduce/stream.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// N sources into a target on a line boundary. The lines of a turn are streamed straight from registers:
// stores to a buffer in between would wait behind the streamed ones, and most of what is gained would be
// lost. So the inner loop has a constant length, for which the compiler drops the array.
template <class Rule, int N>
[[gnu::noinline]] void fold_turns(const PastCaches& past_caches, unsigned char* target,
                                  const void* const* sources, std::size_t elements) noexcept {
  constexpr std::size_t turn = turn_bytes / sizeof(typename Rule::Element);
  const void* here[N];
  for (int k = 0; k < N; ++k) here[k] = sources[k];
  for (; elements >= turn; elements -= turn) {
    alignas(line_bytes) unsigned char result[turn_bytes];
    if constexpr (N == 2)  // of more sources the processor's own prefetchers fetch enough
      for (const void* const source : here) fetch_ahead(source, turn_bytes);
    if constexpr (Halves<Rule>::lanes != 0) {
      static_assert(turn % Halves<Rule>::lanes == 0);
      fold_halves<Rule, N, false, false>(result, here, turn);
    } else {
      fold_here<Rule, N>(result, here, turn);
    }
    past_caches.store(target, result, turn_bytes);
    target += turn_bytes;
    for (const void*& source : here) source = static_cast<const unsigned char*>(source) + turn_bytes;
  }
  fold<Rule, N>(target, here, elements);
}

using Turns = void (*)(const PastCaches&, unsigned char*, const void* const*, std::size_t) noexcept;

// The streamed passes of one rule; nullptr for numbers of sources that meet in scratch.
struct StreamedPasses {
  Turns two, three, four, eight;
};

template <class Rule>
constexpr StreamedPasses streamed_passes_of() {
  constexpr int widest = widest_pass<typename Rule::Element>;
  return {fold_turns<Rule, 2>, fold_turns<Rule, 3>, fold_turns<Rule, 4>,
          widest < 8 ? nullptr : fold_turns<Rule, widest>};
}

Turns pass_of(const StreamedPasses& streamed, int source_count) noexcept {
  switch (source_count) {
    case 2:
      return streamed.two;
    case 3:
      return streamed.three;
    case 4:
      return streamed.four;
    case 8:
      return streamed.eight;
    default:
      return nullptr;
  }
}

// Other numbers of sources meet in scratch. Half of what is between passes elsewhere measures better: reading
// and writing take turns more often.
constexpr std::size_t streamed_block_bytes = block_bytes / 2;

// A folded block to its place. Meanwhile the next one is fetched, for else memory would only read, then only
// write: `ahead` is where that lies in each source.
void stream_block(const PastCaches& past_caches, unsigned char* target, const unsigned char* folded,
                  std::size_t bytes, const void* const* sources, int source_count,
                  std::size_t ahead) noexcept {
  std::size_t i = 0;
  for (; i + line_bytes <= bytes; i += line_bytes) {
    for (int k = 0; k < source_count; ++k)
      __builtin_prefetch(static_cast<const unsigned char*>(sources[k]) + ahead + i);
    past_caches.store(target + i, folded + i, line_bytes);
  }
  __builtin_memcpy(target + i, folded + i, bytes - i);
}

void fold_many(const Passes& passes, unsigned char* target, const void* const* sources, int source_count,
               std::size_t first, std::size_t elements) noexcept {
  alignas(line_bytes) unsigned char folded[streamed_block_bytes];
  alignas(line_bytes) unsigned char scratch[streamed_block_bytes];  // not `folded`, which may be narrower
  const PastCaches past_caches;
  const std::size_t block = streamed_block_bytes / passes.accumulator;
  for (; first < elements; first += block) {
    const std::size_t count = elements - first < block ? elements - first : block;
    const std::size_t offset = first * passes.size, bytes = count * passes.size;
    fold_block(passes, folded, scratch, sources, source_count, offset, count);
    stream_block(past_caches, target + offset, folded, bytes, sources, source_count, offset + bytes);
  }
}

// The elements before the target's first full line as ever, the others past the caches.
[[gnu::noinline, maybe_unused]] void fold_streamed(const Passes& passes, const StreamedPasses& streamed,
                                                   void* target, const void* const* sources, int source_count,
                                                   std::size_t elements) noexcept {
  auto* const out = static_cast<unsigned char*>(target);
  std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % line_bytes / passes.size;
  if (head > elements) head = elements;
  unsigned char scratch[2 * line_bytes];  // an accumulator has at most two elements' size
  if (head) fold_block(passes, target, scratch, sources, source_count, 0, head);
  const Turns turns = pass_of(streamed, source_count);
  if (!turns) return fold_many(passes, out, sources, source_count, head, elements);
  const std::size_t offset = head * passes.size;
  const void* rest[8];
  for (int k = 0; k < source_count; ++k) rest[k] = static_cast<const unsigned char*>(sources[k]) + offset;
  turns(PastCaches(), out + offset, rest, elements - head);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
