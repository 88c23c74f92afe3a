// Hints to the processor about lines and pages that will be needed soon. They change no result.
#pragma once

#include <cstddef>

#include "machine/layout.hpp"

namespace espalier::machine::hints {

/// This core will write all of that: it takes the lines back from the caches of their readers.
inline void own_lines(const void* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += Layout::line_bytes) {
    const char& line = static_cast<const char*>(data)[i];
#if defined(__x86_64__)
    // The builtin gives a plain prefetch unless the whole build is for processors that have this one; those
    // that do not take it for a no-op.
    asm volatile("prefetchw %0" ::"m"(line));
#else
    __builtin_prefetch(&line, 1, 3);
#endif
  }
}

/// This core will write there: it fetches the translations, with the first line of each page.
inline void own_pages(const std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += Layout::page) own_lines(data + at, 1);
}

/// This core will read there what has not been written yet: it fetches the translations. Of a page that is
/// not filled it touches the last line, so that the writer keeps the lines that it has taken back.
inline void touch_pages(const std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += Layout::page)
    __builtin_prefetch(data + at + (bytes - at < Layout::page ? Layout::page - Layout::line_bytes : 0));
}

/// This core reads all of that now: it fetches the first lines of each page, from which the processor's
/// prefetchers, which stop at a page's end, go on by themselves (docs/performance.md).
inline void begin_pages(const void* data, std::size_t bytes) {
  constexpr std::size_t least = 8 * 1024, most = 64 * 1024, lines = 4;
  if (bytes < least || bytes > most) return;
  for (std::size_t at = 0; at < bytes; at += Layout::page)
    for (std::size_t i = 0; i < lines; ++i)
      __builtin_prefetch(static_cast<const std::byte*>(data) + at + i * Layout::line_bytes);
}

/// This core has written all of that, and another reads it: it moves fresh lines out of its own caches to
/// where the other finds them sooner. Short data only: measured to help up to 2 KiB (docs/performance.md),
/// and to hurt above, where it fights the pipeline.
inline void hand_over([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
  constexpr std::size_t most = 2048;
  if (bytes > most) return;
  // cldemote, a hint that processors without it take for a no-op.
  for (std::size_t i = 0; i < bytes; i += Layout::line_bytes)
    asm volatile("cldemote %0" ::"m"(static_cast<const char*>(data)[i]));
#endif
}

}  // namespace espalier::machine::hints
