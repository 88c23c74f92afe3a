// Streaming stores, for targets that would not stay in the caches anyhow. An ordinary store first reads each
// line of such a target from memory, only to overwrite it. Included once by the source file of each
// instruction set (see catalogue.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/isa.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace espalier::reduce::ESPALIER_ISA {
namespace {

constexpr std::size_t line_bytes = 64;

// Bytes that one iteration of a loop folds and streams: eight registers.
constexpr std::size_t turn_bytes = 512;

#if defined(__AVX2__)

constexpr bool can_stream = true;

// Whether a call should stream: its target is too large to be wanted in a cache, all it touches is more than
// the caches hold, the target is not read as a source, and whole elements (of `size` bytes) precede its first
// full line.
bool streams(const void* target, const void* const* sources, int source_count, std::size_t bytes,
             std::size_t size) noexcept {
  if (bytes < detail::stream_limits.target) return false;
  if (bytes * (static_cast<unsigned>(source_count) + 1) < detail::stream_limits.together) return false;
  for (int k = 0; k < source_count; ++k)
    if (sources[k] == target) return false;
  return -reinterpret_cast<std::uintptr_t>(target) % line_bytes % size == 0;
}

// The one way to store past the caches. Such stores are not ordered by a later release store of this thread,
// which on x86 is a plain store: a flag that says the target is ready could be seen before the target. So
// only this object makes them, and its destructor orders them before all that follows.
class PastCaches {
 public:
  PastCaches() = default;
  PastCaches(const PastCaches&) = delete;
  PastCaches& operator=(const PastCaches&) = delete;
  ~PastCaches() { _mm_sfence(); }

  // Whole lines to a target on a line boundary.
  void store(unsigned char* target, const unsigned char* source, std::size_t bytes) const noexcept {
    for (std::size_t i = 0; i < bytes; i += line_bytes) store_line(target + i, source + i);
  }

 private:
  static void store_line(unsigned char* target, const unsigned char* source) noexcept {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target), _mm512_loadu_si512(source));
#else
    for (std::size_t half = 0; half < line_bytes; half += 32)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(target + half),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + half)));
#endif
  }
};

#else

constexpr bool can_stream = false;

bool streams(const void*, const void* const*, int, std::size_t, std::size_t) noexcept { return false; }

class PastCaches {
 public:
  void store(unsigned char*, const unsigned char*, std::size_t) const noexcept {}
};

#endif

// How far ahead of the loads lines are prefetched. Two pages: the processor's own prefetchers stop at the end
// of a page, and begin anew in the next. Into L2, since L1 is too small for several sources.
constexpr std::size_t ahead_bytes = 8192;

// Past the end of a source this does nothing harmful: a prefetch of memory that is not there is dropped.
[[gnu::always_inline]] inline void fetch_ahead(const void* source, std::size_t bytes) noexcept {
  constexpr int for_reading = 0, into_l2 = 2;
  const auto* const from = static_cast<const unsigned char*>(source) + ahead_bytes;
  for (std::size_t i = 0; i < bytes; i += line_bytes) __builtin_prefetch(from + i, for_reading, into_l2);
}

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
