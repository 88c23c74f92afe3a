// Blocks of one buffer, of equal sizes or, as in the v forms of MPI's collectives, of different ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "machine/concept.hpp"
#include "machine/layout.hpp"

namespace espalier::collective {

/// Where each rank's block lies in a buffer, in bytes; both as long as there are ranks.
struct Blocks {
  std::span<const std::size_t> bytes, offsets;

  std::size_t bytes_of(int rank) const { return bytes[static_cast<std::size_t>(rank)]; }
  std::size_t offset_of(int rank) const { return offsets[static_cast<std::size_t>(rank)]; }
};

/// The same for blocks of one size, one after the other.
struct EqualBlocks {
  std::size_t block;

  std::size_t bytes_of(int) const { return block; }
  std::size_t offset_of(int rank) const { return static_cast<std::size_t>(rank) * block; }
};

/// Blocks of different sizes, one after the other: `edges` has where each begins, and where the last ends.
struct PackedBlocks {
  std::span<const std::size_t> edges;

  std::size_t bytes_of(int rank) const { return offset_of(rank + 1) - offset_of(rank); }
  std::size_t offset_of(int rank) const { return edges[static_cast<std::size_t>(rank)]; }
};

template <class B>
std::size_t largest_of(const B& blocks, int ranks) {
  std::size_t result = 0;
  for (int rank = 0; rank < ranks; ++rank) result = std::max(result, blocks.bytes_of(rank));
  return result;
}
template <class B>
std::size_t smallest_of(const B& blocks, int ranks) {
  std::size_t result = blocks.bytes_of(0);
  for (int rank = 1; rank < ranks; ++rank) result = std::min(result, blocks.bytes_of(rank));
  return result;
}

inline std::size_t largest_of(const EqualBlocks& blocks, int) { return blocks.block; }
inline std::size_t smallest_of(const EqualBlocks& blocks, int) { return blocks.block; }

/// Of all blocks of lower ranks. One by one: added in pairs, lengths that have just been stored one by one
/// would be loaded as one, which no processor can forward from two stores (10 ns, docs/performance.md).
template <class B>
std::size_t bytes_below(const B& blocks, int rank) {
  std::size_t result = 0;
  for (int below = 0; below < rank; ++below) {
    result += blocks.bytes_of(below);
    asm("" : "+r"(result));  // keeps the compiler from pairs
  }
  return result;
}
inline std::size_t bytes_below(const EqualBlocks& blocks, int rank) { return blocks.offset_of(rank); }
inline std::size_t bytes_below(const PackedBlocks& blocks, int rank) {
  return blocks.offset_of(rank) - blocks.offset_of(0);
}

/// Bytes of a rank's block, rounded up, where all of them have `total`. Divides only where it must: it is
/// part of short calls.
inline std::size_t mean_block(std::size_t total, std::size_t ranks) {
  const std::size_t sum = total + ranks - 1;
  return std::has_single_bit(ranks) ? sum >> std::countr_zero(ranks) : sum / ranks;
}

/// Where this rank's block lies among those that another rank has for the others: one after the other, in
/// rank order, without that rank's own.
template <class B>
class OwnPlace {
 public:
  /// `blocks`: what bytes_of() each of them.
  OwnPlace(const B& blocks, int rank) : blocks_(blocks), rank_(rank), below_(bytes_below(blocks, rank)) {}
  std::size_t in_data_of(int peer) const { return peer < rank_ ? below_ - blocks_.bytes_of(peer) : below_; }

 private:
  B blocks_;
  int rank_;
  std::size_t below_;
};

/// A part of a block, in bytes from the block's start.
struct Part {
  std::size_t offset, bytes;
};

/// What round `index` carries of a block when each carries `step` bytes; nothing when the block has ended
/// before.
inline Part part_of(std::size_t block, std::size_t index, std::size_t step) {
  const std::size_t offset = std::min(index * step, block);
  return {offset, std::min(step, block - offset)};
}

/// Long data begin on lines where they lie in slots: copies from and to other addresses take longer.
inline constexpr std::size_t line_bytes = machine::Layout::line_bytes;
constexpr std::size_t whole_lines(std::size_t bytes) { return machine::Layout::round_up(bytes, line_bytes); }

/// Where a rank's block lies. Blocks that do not lie in one piece have functions of their own under these
/// names (pieces/piece_blocks.hpp).
template <class B>
const std::byte* block_of(const void* base, const B& blocks, int rank) {
  return static_cast<const std::byte*>(base) + blocks.offset_of(rank);
}
template <class B>
std::byte* block_of(void* base, const B& blocks, int rank) {
  return static_cast<std::byte*>(base) + blocks.offset_of(rank);
}

inline const std::byte* dense_address(const std::byte* block) { return block; }

/// A part of a block to where it is packed, and from there into the block.
template <machine::Copies M>
void copy_part(M& m, std::byte* target, const void* block, const Part& part) {
  m.copy(target, static_cast<const std::byte*>(block) + part.offset, part.bytes);
}
template <machine::Copies M>
void take_part(M& m, std::byte* block, const Part& part, const std::byte* data) {
  m.copy(block + part.offset, data, part.bytes);
}

/// The part of a rank's block for itself, which goes through no slot; in place it is there already.
template <machine::HasKernels M>
void copy_own(M& m, std::byte* target, const void* source, const Part& part) {
  if (part.bytes > 0 && target != source)
    m.copy(target + part.offset, static_cast<const std::byte*>(source) + part.offset, part.bytes);
}

}  // namespace espalier::collective
