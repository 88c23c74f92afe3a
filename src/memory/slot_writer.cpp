#include "memory/slot_writer.hpp"

#include <chrono>

namespace espalier::memory {

bool SlotWriter::copies_slowly(void* target, const void* source, std::size_t bytes) {
  constexpr std::size_t line = 64;
  constexpr double most_ns_a_line = 9;  // streamed and read from memory: 7.5 (docs/performance.md)
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::memcpy(target, source, bytes);
  const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
  return took.count() > most_ns_a_line * static_cast<double>(bytes / line);
}

}  // namespace espalier::memory
