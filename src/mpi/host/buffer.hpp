// A piece of private memory for one call.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace espalier::mpi {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<std::byte, FreeMemory>;

/// Aligned for any vector type; throws Error when there is no memory.
inline Buffer allocate(std::size_t bytes) {
  constexpr std::size_t line = 128;
  if (bytes <= ~std::size_t{0} - line)
    if (void* memory = std::aligned_alloc(line, (bytes + line) / line * line))
      return Buffer(static_cast<std::byte*>(memory));
  throw Error("no memory for a private buffer of " + std::to_string(bytes) +
              " bytes, needed to pack a datatype with gaps; use a contiguous datatype or smaller messages");
}

}  // namespace espalier::mpi
