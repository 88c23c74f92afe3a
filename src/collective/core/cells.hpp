// How the blocks that a rank has for the others share its slots: part i of every block travels in round i, so
// that every rank has something to read in every round. Each block has a cell of its own, of the same size in
// all rounds.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/rounds.hpp"

namespace espalier::collective {

/// A function of sizes that all who use it know, so that the writer of a slot and its readers agree.
class Cells {
 public:
  /// `count` blocks of `total` bytes, in whole elements, behind at least `head` bytes of the slot, in chunks
  /// of `area` bytes, or more where that would be too little.
  template <Machine M>
  Cells(const M& m, std::size_t area, std::size_t count, std::size_t total, std::size_t element = 1,
        std::size_t head = 0) {
    const std::size_t ring = m.slot_bytes() * static_cast<std::size_t>(m.slots());
    grain_ = grain_of(count, total, element, ring);
    packed_ = grain_ == element;
    head_ = packed_ ? head : whole_lines(head);
    const std::size_t least = room_for(count, grain_) + head_;
    const std::size_t limit = std::max(std::min(area, ring), least) - head_;
    // Rounding up adds less than two grains to a cell.
    whole_ = total + count * (grain_ - 1);
    if (whole_ > limit) {
      rounds_ = (total + limit - 2 * count * grain_ - 1) / (limit - 2 * count * grain_);
      whole_ = limit;
    }
    span_ = span_of(m, head_ + whole_);
  }

  /// False where the slots are too small for cells at all: so many ranks, such small slots.
  template <Machine M>
  static bool fit(const M& m, std::size_t count, std::size_t element, std::size_t head = 0) {
    return room_for(count, element) + head <= m.slot_bytes() * static_cast<std::size_t>(m.slots());
  }

  /// An area that is never too little, for those who must all take the same without knowing each other's
  /// blocks.
  static std::size_t enough_for(std::size_t count, std::size_t head) {
    return room_for(count, line_bytes) + whole_lines(head);
  }

  std::size_t rounds() const { return rounds_; }
  int span() const { return span_; }
  /// Where the first cell begins, from the slot's start.
  std::size_t head() const { return head_; }
  /// Cells lie close together, and none is longer than its block, if it takes one round.
  bool are_packed() const { return packed_; }
  /// At least the bytes of all cells together.
  std::size_t bytes() const { return whole_; }

  std::size_t cell(std::size_t block) const {
    if (rounds_ == 1 && packed_) return block;  // short messages: no divisions
    const std::size_t grains = (block + grain_ - 1) / grain_;
    return (grains + rounds_ - 1) / rounds_ * grain_;
  }
  Part part(std::size_t block, std::size_t round) const { return part_of(block, round, cell(block)); }

 private:
  // Room in which cells of at least a grain each fit, and then some, so that rounds make progress.
  static std::size_t room_for(std::size_t count, std::size_t grain) { return 4 * count * grain; }

  // Small blocks lie close together, for one line then serves several readers; larger ones begin on lines.
  static std::size_t grain_of(std::size_t count, std::size_t total, std::size_t element, std::size_t ring) {
    const std::size_t lines = element < line_bytes && std::has_single_bit(element) ? line_bytes : element;
    return total <= line_bytes * count || room_for(count, lines) > ring / 2 ? element : lines;
  }

  std::size_t rounds_ = 1;
  bool packed_;
  std::size_t head_;
  std::size_t grain_;
  std::size_t whole_;
  int span_;
};

/// Writes this round's parts of all blocks but the rank's own. Returns how far into the slot they reach.
/// `comes_back`: as in write_pairwise(), of two ranks that use pairwise slots.
template <Machine M, class B>
std::size_t write_cells(M& m, std::byte* slot, const void* send, const B& blocks, const Cells& cells,
                        const Round& round, std::size_t comes_back = 0) {
  std::size_t offset = 0;
  for (int peer = 0; peer < m.size(); ++peer) {
    if (peer == m.rank()) continue;
    const std::size_t block = blocks.bytes_of(peer);
    const Part part = cells.part(block, round.index);
    show_part(m, slot + offset, block_of(send, blocks, peer), part, comes_back, round.read_next);
    offset += cells.cell(block);
  }
  return offset;
}

/// What every rank shows every rank, in cells. `can_pair`: as in Rounds.
template <Machine M>
Rounds rounds_of(const M& m, const Cells& cells, const Meeting<M>& meeting, bool can_pair) {
  return {.count = cells.rounds(),
          .span = cells.span(),
          .bytes = cells.bytes(),
          .overlap = !meeting.is_central(),
          .readers = m.other_ranks(),
          .can_pair = can_pair,
          .likely_again = !meeting.is_central() && cells.rounds() == 1 ? cells.bytes() : 0};
}

/// Each rank's cell, for blocks of which all ranks know all: what OwnPlace asks for.
template <class B>
struct CellSizes {
  const B& blocks;
  const Cells& cells;
  std::size_t bytes_of(int rank) const { return cells.cell(blocks.bytes_of(rank)); }
};

}  // namespace espalier::collective
