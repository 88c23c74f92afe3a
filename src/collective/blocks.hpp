// Blocks of different sizes in one buffer: what the v forms of MPI's collectives speak of.
#pragma once

#include <cstddef>
#include <span>

namespace espalier::collective {

/// Where each rank's block lies in a buffer, in bytes; both as long as there are ranks.
struct Blocks {
  std::span<const std::size_t> bytes, offsets;
};

}  // namespace espalier::collective
