// Blocks of all ranks as a stream: one after the other, in rank order, wherever they belong in a buffer.
#pragma once

#include <algorithm>
#include <vector>

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// Where blocks begin in the stream, and where the last ends.
template <class B>
std::vector<std::size_t> packed_edges(const B& blocks, int ranks) {
  std::vector<std::size_t> edges{0};
  edges.reserve(static_cast<std::size_t>(ranks) + 1);
  for (int rank = 0; rank < ranks; ++rank) edges.push_back(edges.back() + blocks.bytes_of(rank));
  return edges;
}

/// A part of the stream: `bytes` from `begin` on. `Packed`: EqualBlocks, or PackedBlocks from packed_edges().
template <class Packed>
struct StreamPart {
  const Packed& packed;
  std::size_t begin, bytes;

  /// How many bytes of the part are those of ranks below this one.
  std::size_t operator()(int rank) const {
    return std::clamp(packed.offset_of(rank), begin, begin + bytes) - begin;
  }
  /// Where the part begins in the block of a rank.
  std::size_t in_block(int rank) const {
    return std::clamp(begin, packed.offset_of(rank), packed.offset_of(rank + 1)) - packed.offset_of(rank);
  }
};

/// Copies what `data` has of the blocks of ranks first .. end - 1, a part of the stream from their first byte in it
/// on, to where these belong; blocks that are neighbours there, too, at once.
template <class M, class B, class Packed>
void copy_to_blocks(M& m, const std::byte* data, void* receive, const B& blocks,
                    const StreamPart<Packed>& part, int first, int end) {
  std::size_t to = 0, bytes = 0;
  for (int rank = first; rank < end; ++rank) {
    const std::size_t some = part(rank + 1) - part(rank);
    if (some == 0) continue;
    const std::size_t place = blocks.offset_of(rank) + part.in_block(rank);
    if (bytes > 0 && place != to + bytes) {
      m.copy(at(receive, to), data, bytes);
      data += bytes;
      bytes = 0;
    }
    if (bytes == 0) to = place;
    bytes += some;
  }
  if (bytes > 0) m.copy(at(receive, to), data, bytes);
}
template <class M>
void copy_to_blocks(M& m, const std::byte* data, void* receive, const EqualBlocks&,
                    const StreamPart<EqualBlocks>& part, int first, int end) {
  const std::size_t bytes = part(end) - part(first);
  if (bytes > 0) m.copy(at(receive, part.begin + part(first)), data, bytes);
}

}  // namespace espalier::collective
