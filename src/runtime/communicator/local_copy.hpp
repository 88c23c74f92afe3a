// Copies within one rank's own buffers.
#pragma once

#include <cstddef>
#include <cstring>

#include "memory/copy/copy.hpp"
#include "memory/layout/copy_runs.hpp"
#include "runtime/communicator/communicator.hpp"

namespace espalier::runtime {

/// Copies a rank's own data; in place, and with no data, there is nothing to do.
inline void copy_alone(void* target, const void* source, std::size_t bytes) {
  if (bytes > 0 && source != Communicator::in_place && target != Communicator::in_place && target != source)
    std::memcpy(target, source, bytes);
}

/// Models machine::Copies.
struct LocalCopies {
  static void copy(void* target, const void* source, std::size_t bytes) {
    memory::copy(target, source, bytes);
  }
  static void copy_runs(void* target, std::ptrdiff_t target_step, const void* source,
                        std::ptrdiff_t source_step, std::size_t bytes, std::size_t count) {
    memory::copy_runs(target, target_step, source, source_step, bytes, count);
  }
};

inline std::byte* at_offset(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }
inline const std::byte* at_offset(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}

}  // namespace espalier::runtime
