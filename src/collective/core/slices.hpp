// A chunk in slices, of which each rank folds one.
#pragma once

#include <array>

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

template <KnowsRanks M>
Slice slice_of(const M& m, const Chunk& chunk, int rank, const Reduction& r) {
  return slice_of(chunk, rank, m.size(), r.operation.extent);
}

/// Calls copy_in(chunk), fold(chunk), copy_out(chunk) for all chunks. These steps of neighbouring chunks
/// overlap: while others still fold chunk i, this rank copies chunk i+1 in.
template <Machine M, class CopyIn, class Fold, class CopyOut>
void in_overlapping_chunks(M& m, const Chunks& chunks, const CopyIn& copy_in, const Fold& fold,
                           const CopyOut& copy_out) {
  const std::size_t in_ring = static_cast<std::size_t>(m.slots() / chunks.span());
  const std::size_t ahead = in_ring >= 4 ? 1 : 0;
  std::array<Chunk, 4> under_way;
  for (std::size_t i = 0; i < chunks.count() + 2 * ahead; ++i) {
    if (i < chunks.count()) copy_in(under_way[i % 4] = chunks.next(m, i));
    if (i >= ahead && i - ahead < chunks.count()) fold(under_way[(i - ahead) % 4]);
    if (i >= 2 * ahead && i - 2 * ahead < chunks.count()) copy_out(under_way[(i - 2 * ahead) % 4]);
  }
}

}  // namespace espalier::collective::detail
