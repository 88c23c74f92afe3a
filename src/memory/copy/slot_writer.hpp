// How a rank writes what others read next: past its caches, where it has to wait for lines that others hold.
#pragma once

#include <chrono>
#include <cstddef>

#include "memory/copy/copy.hpp"
#include "memory/copy/streaming_copy.hpp"

namespace espalier::memory {

/// Copies into one rank's slots. Times a copy now and then: where lines come back slowly, the next ones are
/// streamed, which the reader pays for by going to memory; then it tries again, for cores are near to each
/// other at one time and far at another where a hypervisor moves them. Used by one thread at a time.
template <class Clock = std::chrono::steady_clock>
class SlotWriter {
 public:
  /// True if it streamed: settle_streams() must come before the flag. `fetched`: see stream_copy().
  bool copy(void* target, const void* source, std::size_t bytes, const void* fetched = nullptr) {
    if (!streams(bytes)) return memory::copy(target, source, bytes), false;
    if (to_stream_ == 0 && !streams_always) return copy_and_look(target, source, bytes), false;
    if (to_stream_ > 0) --to_stream_;
    stream_copy(target, source, bytes, fetched);
    return true;
  }

  // The clock takes as long as a few lines, so not every copy is timed.
  static constexpr int look_at_one_of = 8, stream_at_once = 128;
  static constexpr int first_look = 64;         // the first way around a ring meets fresh pages
  static constexpr double most_ns_a_line = 12;  // streamed: 7.5; near, at most 9 (docs/performance.md)

 private:
  void copy_and_look(void* target, const void* source, std::size_t bytes) {
    if (until_look_-- > 0) {
      memory::copy(target, source, bytes);
      return;
    }
    const bool slow = copies_slowly(target, source, bytes);
    until_look_ = slow ? 0 : look_at_one_of - 1;
    to_stream_ = slow ? stream_at_once : 0;
  }

  /// Copies, and says whether that took longer than streaming and a reader's way to memory.
  static bool copies_slowly(void* target, const void* source, std::size_t bytes) {
    constexpr std::size_t line = 64;
    const auto begin = Clock::now();
    memory::copy(target, source, bytes);
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    const std::size_t lines = bytes / line;
    return took.count() > most_ns_a_line * static_cast<double>(lines);
  }

  int to_stream_ = 0;
  int until_look_ = first_look;
};

}  // namespace espalier::memory
