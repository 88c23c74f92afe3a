// A chunk in slices, of which each rank folds one.
#pragma once

#include "collective/core/chunks.hpp"
#include "collective/core/reduction.hpp"

namespace espalier::collective::detail {

/// A part of a chunk, in bytes from the chunk's start.
struct Slice {
  std::size_t begin;
  std::size_t bytes;
};

/// Slices are whole numbers of so many bytes: a multiple of the element and, where it fits, of the cache
/// line.
inline std::size_t slice_grain(std::size_t extent) {
  return extent * (extent < 64 && 64 % extent == 0 ? 64 / extent : 1);
}

inline Slice slice_of(const Chunk& chunk, int rank, int size, std::size_t extent) {
  const std::size_t grain = slice_grain(extent);
  const std::size_t grains = (chunk.bytes + grain - 1) / grain;
  const auto edge = [&](int r) {
    return std::min(grains * static_cast<std::size_t>(r) / static_cast<std::size_t>(size) * grain,
                    chunk.bytes);
  };
  return {edge(rank), edge(rank + 1) - edge(rank)};
}

template <Machine M>
Slice slice_of(const M& m, const Chunk& chunk, int rank, const Reduction& r) {
  return slice_of(chunk, rank, m.size(), r.operation.extent);
}

}  // namespace espalier::collective::detail
