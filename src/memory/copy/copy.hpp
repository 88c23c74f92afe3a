// memcpy without its trap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace espalier::memory {

/// Below the length from which C libraries copy by `rep movsb`.
inline constexpr std::size_t copy_piece = 2048;

/// Whether the target lies 1 to 15 bytes behind the source, in the pages of either. Then the processor takes
/// each load of `rep movsb` for one of what it has just stored: 2 GB/s instead of 40 on an EPYC
/// (docs/performance.md). Arrays of which a program sends all but the first element lie there.
inline bool close_behind(const void* target, const void* source) {
  constexpr std::uintptr_t page = 4096, load = 16;
  const auto behind = reinterpret_cast<std::uintptr_t>(target) - reinterpret_cast<std::uintptr_t>(source);
  return (behind - 1) % page < load - 1;
}

/// In pieces, which memcpy copies by other means than the whole.
void copy_in_pieces(void* target, const void* source, std::size_t bytes, std::size_t piece);

/// On AMD's processors C libraries copy more than an L2 cache holds without `rep movsb`. Into lines that a core further away
/// holds that takes three times as long on an EPYC. What is longer than the last cache is theirs to copy past it.
inline constexpr std::size_t string_piece = 128 * 1024, string_copies_from = 512 * 1024,
                             string_copies_to = 32 * 1024 * 1024;

/// Up to 2 * sizeof(Word) bytes, from sizeof(Word) on, by two words that may overlap.
template <class Word>
void copy_two_words(void* target, const void* source, std::size_t bytes) {
  Word first, last;
  const std::size_t end = bytes - sizeof(Word);
  std::memcpy(&first, source, sizeof first);
  std::memcpy(&last, static_cast<const char*>(source) + end, sizeof last);
  std::memcpy(target, &first, sizeof first);
  std::memcpy(static_cast<char*>(target) + end, &last, sizeof last);
}

inline constexpr std::size_t most_short = 2 * sizeof(std::uint64_t);

/// Up to most_short bytes. A memcpy of a length that the compiler does not know is a call, which takes longer
/// than the data.
inline void copy_short(void* target, const void* source, std::size_t bytes) {
  if (bytes >= sizeof(std::uint64_t)) return copy_two_words<std::uint64_t>(target, source, bytes);
  if (bytes >= sizeof(std::uint32_t)) return copy_two_words<std::uint32_t>(target, source, bytes);
  for (std::size_t i = 0; i < bytes; ++i) static_cast<char*>(target)[i] = static_cast<const char*>(source)[i];
}

/// For data that do not overlap.
inline void copy(void* target, const void* source, std::size_t bytes) {
  if (bytes <= most_short) return copy_short(target, source, bytes);
#if defined(__x86_64__)
  if (bytes > copy_piece) {
    if (close_behind(target, source)) return copy_in_pieces(target, source, bytes, copy_piece);
    if (bytes > string_copies_from && bytes <= string_copies_to)
      return copy_in_pieces(target, source, bytes, string_piece);
  }
#endif
  std::memcpy(target, source, bytes);
}

}  // namespace espalier::memory
