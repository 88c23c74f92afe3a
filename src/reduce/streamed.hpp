// Sources into a target that is written past the caches. Included once by each unit of one instruction set
// (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/blocks.hpp"
#include "reduce/stream.hpp"

namespace espalier::reduce::ESPALIER_ISA {
namespace {

// Two sources into a target on a line boundary. The lines of a turn are streamed straight from registers:
// stores to a buffer in between would wait behind the streamed ones, and most of what is gained would be
// lost. So the inner loop has a constant length, for which the compiler drops the array.
template <class Rule>
[[gnu::noinline]] void fold_two(const PastCaches& past_caches, unsigned char* target, const void* first,
                                const void* second, std::size_t elements) noexcept {
  using C = Cell<typename Rule::Element>;
  constexpr std::size_t turn = turn_bytes / sizeof(C);
  const auto* const a = static_cast<const C*>(first);
  const auto* const b = static_cast<const C*>(second);
  std::size_t i = 0;
  for (; i + turn <= elements; i += turn) {
    const void* const here[] = {a + i, b + i};
    fetch_ahead(here[0], turn_bytes);
    fetch_ahead(here[1], turn_bytes);
    alignas(line_bytes) C result[turn];
    if constexpr (Halves<Rule>::lanes != 0) {
      static_assert(turn % Halves<Rule>::lanes == 0);
      fold_halves<Rule, 2>(result, here, turn);
    } else {
      for (std::size_t j = 0; j < turn; ++j)
        result[j].store(Rule::finish(Rule::apply(a[i + j].load(), b[i + j].load())));
    }
    past_caches.store(target + i * sizeof(C), reinterpret_cast<const unsigned char*>(result), turn_bytes);
  }
  const void* const rest[] = {a + i, b + i};
  fold<Rule, 2>(target + i * sizeof(C), rest, elements - i);
}

using FoldTwo = void (*)(const PastCaches&, unsigned char*, const void*, const void*, std::size_t) noexcept;

// More sources meet in scratch. Half of what is between passes elsewhere measures better: reading and writing
// take turns more often.
constexpr std::size_t streamed_block_bytes = block_bytes / 2;

// A folded block to its place. Meanwhile the next one is fetched, for else memory would only read, then only
// write: `ahead` is where that lies in each source.
void stream_block(const PastCaches& past_caches, unsigned char* target, const unsigned char* scratch,
                  std::size_t bytes, const void* const* sources, int source_count,
                  std::size_t ahead) noexcept {
  std::size_t i = 0;
  for (; i + line_bytes <= bytes; i += line_bytes) {
    for (int k = 0; k < source_count; ++k)
      __builtin_prefetch(static_cast<const unsigned char*>(sources[k]) + ahead + i);
    past_caches.store(target + i, scratch + i, line_bytes);
  }
  __builtin_memcpy(target + i, scratch + i, bytes - i);
}

void fold_many(const Passes& passes, unsigned char* target, const void* const* sources, int source_count,
               std::size_t first, std::size_t elements) noexcept {
  alignas(line_bytes) unsigned char scratch[streamed_block_bytes];
  const PastCaches past_caches;
  const std::size_t block = streamed_block_bytes / passes.size;
  for (; first < elements; first += block) {
    const std::size_t count = elements - first < block ? elements - first : block;
    const std::size_t offset = first * passes.size, bytes = count * passes.size;
    fold_block(passes, scratch, scratch, sources, source_count, offset, count);
    stream_block(past_caches, target + offset, scratch, bytes, sources, source_count, offset + bytes);
  }
}

// The elements before the target's first full line as ever, the others past the caches.
[[gnu::noinline, maybe_unused]] void fold_streamed(const Passes& passes, FoldTwo fold_two, void* target,
                                                   const void* const* sources, int source_count,
                                                   std::size_t elements) noexcept {
  auto* const out = static_cast<unsigned char*>(target);
  std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % line_bytes / passes.size;
  if (head > elements) head = elements;
  unsigned char scratch[line_bytes];
  if (head) fold_block(passes, target, scratch, sources, source_count, 0, head);
  if (source_count > 2) return fold_many(passes, out, sources, source_count, head, elements);
  const std::size_t offset = head * passes.size;
  const PastCaches past_caches;
  fold_two(past_caches, out + offset, static_cast<const unsigned char*>(sources[0]) + offset,
           static_cast<const unsigned char*>(sources[1]) + offset, elements - head);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
