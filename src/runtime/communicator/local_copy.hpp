// Copies within one rank's own buffers.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/communicator/communicator.hpp"

namespace espalier::runtime {

/// Copies a rank's own data; in place, and with no data, there is nothing to do.
inline void copy_alone(void* target, const void* source, std::size_t bytes) {
  if (bytes > 0 && source != Communicator::in_place && target != Communicator::in_place && target != source)
    std::memcpy(target, source, bytes);
}

inline std::byte* at_offset(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }
inline const std::byte* at_offset(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}

}  // namespace espalier::runtime
