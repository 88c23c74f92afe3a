// Blocks that do not lie in one piece each: any number of pieces of any layout, those for a rank (or from it)
// in the order in which they are packed. What goes between two ranks is one stream of packed bytes, whatever
// either side makes of it.
#pragma once

#include <algorithm>
#include <span>

#include "collective/core/blocks.hpp"
#include "memory/layout/piece.hpp"

namespace espalier::collective {

using memory::Piece;

/// What goes to, or comes from, one rank.
struct PieceBlock {
  std::span<const Piece> pieces;
};

/// The pieces of all ranks: those of rank r are pieces[first[r]] to pieces[first[r + 1]], and have bytes[r]
/// bytes together.
struct PieceBlocks {
  std::span<const Piece> pieces;
  std::span<const std::size_t> first, bytes;

  std::size_t bytes_of(int rank) const { return bytes[static_cast<std::size_t>(rank)]; }
  PieceBlock block(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {pieces.subspan(first[r], first[r + 1] - first[r])};
  }
};

/// Walks through a part of a block, as memory::walk().
template <class Visit>
void walk(const PieceBlock& block, const Part& part, Visit&& visit) {
  std::size_t offset = part.offset, left = part.bytes;
  for (const Piece& piece : block.pieces) {
    if (left == 0) return;
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const std::size_t some = std::min(piece.bytes - offset, left);
    memory::walk(piece, offset, some, visit);
    offset = 0;
    left -= some;
  }
}

// What core/blocks.hpp has for blocks that lie in one piece. Out of line, as in show_pieces.hpp: callers are
// compiled in one piece ([[gnu::flatten]]), and would take the loops of all layouts in at each call.

inline PieceBlock block_of(const void*, const PieceBlocks& blocks, int rank) { return blocks.block(rank); }
inline PieceBlock block_of(void*, const PieceBlocks& blocks, int rank) { return blocks.block(rank); }

/// The dense block's first byte; null: it has gaps, or lies in several pieces.
inline const std::byte* dense_address(const PieceBlock& block) {
  return block.pieces.size() == 1 && !block.pieces[0].runs ? block.pieces[0].data : nullptr;
}

template <machine::Copies M>
[[gnu::noinline]] void copy_part(M& m, std::byte* target, const PieceBlock& block, const Part& part) {
  walk(block, part, [&](const std::byte* from, std::size_t bytes, std::size_t count, std::ptrdiff_t stride) {
    if (count == 1)
      m.copy(target, from, bytes);
    else
      m.copy_runs(target, static_cast<std::ptrdiff_t>(bytes), from, stride, bytes, count);
    target += bytes * count;
  });
}

template <machine::Copies M>
[[gnu::noinline]] void take_part(M& m, const PieceBlock& block, const Part& part, const std::byte* data) {
  walk(block, part, [&](std::byte* to, std::size_t bytes, std::size_t count, std::ptrdiff_t stride) {
    if (count == 1)
      m.copy(to, data, bytes);
    else
      m.copy_runs(to, stride, data, static_cast<std::ptrdiff_t>(bytes), bytes, count);
    data += bytes * count;
  });
}

/// Both sides are cut at the same bytes, so that no third place is needed; where a side is dense, the other
/// one's loops serve.
template <machine::Copies M>
[[gnu::noinline]] void copy_own(M& m, const PieceBlock& target, const PieceBlock& source, const Part& part) {
  if (const std::byte* from = dense_address(source))
    return from == dense_address(target) ? void() : take_part(m, target, part, from + part.offset);
  std::size_t done = part.offset;
  walk(target, part, [&](std::byte* to, std::size_t bytes, std::size_t count, std::ptrdiff_t stride) {
    for (std::size_t i = 0; i < count; ++i, to += stride, done += bytes)
      copy_part(m, to, source, Part{done, bytes});
  });
}

}  // namespace espalier::collective
