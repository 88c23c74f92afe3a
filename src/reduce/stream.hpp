// Stores that go past the caches, for targets that would not stay in them anyhow: without these each line of
// a fresh target is first read from memory, only to be overwritten. Included once by each unit of one
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

#if defined(__AVX2__)

// Whether a call should stream: all it touches is more than the caches hold, the target is not read as a
// source, and whole elements lead up to its first full line.
bool streams(const void* target, const void* const* sources, int source_count, std::size_t bytes,
             std::size_t size) noexcept {
  if (bytes * (static_cast<unsigned>(source_count) + 1) < detail::stream_bytes) return false;
  for (int k = 0; k < source_count; ++k)
    if (sources[k] == target) return false;
  return -reinterpret_cast<std::uintptr_t>(target) % line_bytes % size == 0;
}

// Full lines of a target on a line boundary past the caches, the rest as ever. Meanwhile the next block is
// fetched, for else memory would only read, then only write: `ahead` is where it lies in each source.
void stream_out(unsigned char* target, const unsigned char* source, std::size_t bytes,
                const void* const* sources, int source_count, std::size_t ahead) noexcept {
  std::size_t i = 0;
  if (reinterpret_cast<std::uintptr_t>(target) % line_bytes == 0)
    for (; i + line_bytes <= bytes; i += line_bytes) {
      for (int k = 0; k < source_count; ++k)
        __builtin_prefetch(static_cast<const unsigned char*>(sources[k]) + ahead + i);
#if defined(__AVX512F__)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i), _mm512_loadu_si512(source + i));
#else
      for (std::size_t half = 0; half < line_bytes; half += 32)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(target + i + half),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + i + half)));
#endif
    }
  __builtin_memcpy(target + i, source + i, bytes - i);
}

// Streamed stores are not ordered by a later release store of the caller, so they are ordered here.
void stream_end() noexcept { _mm_sfence(); }

#else

bool streams(const void*, const void* const*, int, std::size_t, std::size_t) noexcept { return false; }
void stream_out(unsigned char*, const unsigned char*, std::size_t, const void* const*, int,
                std::size_t) noexcept {}
void stream_end() noexcept {}

#endif

}  // namespace
}  // namespace espalier::reduce::ESPALIER_ISA
