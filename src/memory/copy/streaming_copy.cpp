#include "memory/copy/streaming_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "memory/thread_sanitizer.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace espalier::memory {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
constexpr std::size_t least = 4096;  // below, the reader's way to memory costs more than is saved

// Intel's processors take lines back by themselves faster, and have cldemote for short ones
// (machine/prefetch_hints.hpp).
std::size_t least_where_it_helps() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd")) return least;
#endif
  return never;
}

}  // namespace

std::size_t streaming_from = least_where_it_helps();

bool streams_always = false;

void choose_streaming(bool wanted) {
  streaming_from = wanted ? least : never;
  streams_always = wanted;
}

void stream_copy(void* target, const void* source, std::size_t bytes, const void* fetched) {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  auto* next = static_cast<const char*>(fetched);
  auto* to = static_cast<char*>(target);
  auto* from = static_cast<const char*>(source);
  const std::size_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  tell_of_write(to, bytes);
  for (; bytes >= line;
       to += line, from += line, bytes -= line) {  // whole lines: no partial writes to memory
    if (next) __builtin_prefetch(next), next += line;
    const auto* parts = reinterpret_cast<const __m128i*>(from);
    auto* places = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(parts), b = _mm_loadu_si128(parts + 1), c = _mm_loadu_si128(parts + 2),
                  d = _mm_loadu_si128(parts + 3);
    _mm_stream_si128(places, a);
    _mm_stream_si128(places + 1, b);
    _mm_stream_si128(places + 2, c);
    _mm_stream_si128(places + 3, d);
  }
  std::memcpy(to, from, bytes);
#else
  static_cast<void>(fetched);
  std::memcpy(target, source, bytes);
#endif
}

}  // namespace espalier::memory
