// What one rank moves in a schedule: data that it gives, data that it takes, and data that do not leave it.
// They lie in one piece, or in any number of pieces of any layout, which are packed straight into shared
// memory, and unpacked straight from there.
#pragma once

#include <cstddef>
#include <span>

#include "collective/pieces/show_pieces.hpp"

namespace espalier::collective {

/// Data of this rank, and their place in all that it gives.
struct Give {
  const std::byte* source;
  std::size_t offset, bytes;
  int reader;                       ///< or one of several
  std::span<const Piece> pieces{};  ///< some: the data are these, and `source` is null
};

/// Data in what `peer` gives, and where this rank wants them.
struct Take {
  int peer;
  std::size_t offset, bytes;
  std::byte* target;
  std::span<const Piece> pieces{};  ///< as above
};

/// Data that do not leave this rank.
struct Keep {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t bytes = 0;
  std::span<const Piece> from{}, to{};  ///< the pieces of either side, as above
};

namespace detail {

/// A dense side as a block of one piece.
class SideOfKeep {
 public:
  SideOfKeep(const std::byte* data, std::size_t bytes, std::span<const Piece> pieces)
      : dense_{const_cast<std::byte*>(data), bytes, nullptr}, pieces_(pieces) {}
  PieceBlock block() const { return {pieces_.empty() ? std::span(&dense_, 1) : pieces_}; }

 private:
  Piece dense_;
  std::span<const Piece> pieces_;
};

}  // namespace detail

/// `part` of what a rank gives, into its flag line.
template <machine::Copies M>
void copy_given(M& m, std::byte* target, const Give& give, const Part& part) {
  if (give.pieces.empty()) return m.copy(target, give.source + part.offset, part.bytes);
  copy_part(m, target, PieceBlock{give.pieces}, part);
}

/// The same into a buffer, of which the reader has written the first `comes_back` bytes (show_pairwise()).
template <Machine M>
void show_given(M& m, std::byte* target, const Give& give, const Part& part, std::size_t comes_back = 0) {
  if (give.pieces.empty())
    show_pairwise(m, target, give.source + part.offset, part.bytes, comes_back);
  else
    show_part(m, target, PieceBlock{give.pieces}, part, comes_back);
}

/// `part` of what a rank wants, whose first byte is at `data`.
template <machine::Copies M>
void store_taken(M& m, const Take& take, const Part& part, const std::byte* data) {
  if (take.pieces.empty()) return m.copy(take.target + part.offset, data, part.bytes);
  take_part(m, PieceBlock{take.pieces}, part, data);
}

template <machine::Copies M>
void move_kept(M& m, const Keep& keep) {
  if (keep.bytes == 0) return;
  if (keep.from.empty() && keep.to.empty()) return m.copy(keep.target, keep.source, keep.bytes);
  const detail::SideOfKeep from(keep.source, keep.bytes, keep.from), to(keep.target, keep.bytes, keep.to);
  copy_own(m, to.block(), from.block(), Part{0, keep.bytes});
}

}  // namespace espalier::collective
