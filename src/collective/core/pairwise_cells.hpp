// Blocks from every rank to every other by cells that belong to a pair of ranks (machine/concept.hpp), for
// ranks that meet by counter. They share cores, and so caches: few cells, which hold what was read last, stay
// there, where slots that come by in turns would push everything else out.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/rounds.hpp"

namespace espalier::collective {

template <Machine M>
Rounds rounds_in_pairwise_cells(const M& m, std::size_t count) {
  return {.count = count,
          .span = 1,
          .bytes = m.pairwise_bytes(),
          .overlap = false,
          .readers = m.other_ranks(),
          .in_cells = true};
}

/// Part i of every block travels in round i.
class PairwiseCells {
 public:
  /// For blocks of `longest` bytes at most, in whole elements. None where ranks do not meet by counter.
  template <Machine M>
  PairwiseCells(const M& m, const Meeting<M>& meeting, std::size_t longest, std::size_t element = 1) {
    if (!meeting.is_central()) return;
    grain_ = element < line_bytes && std::has_single_bit(element) ? line_bytes : element;
    cell_ = m.pairwise_bytes() / grain_ * grain_;
    if (cell_ > 0) rounds_ = rounds_of(longest);
  }

  /// Whether they take no more rounds than `otherwise`, each of which is a meeting. Blocks that are shorter
  /// than a line had better lie close together.
  bool serve(std::size_t shortest, std::size_t otherwise) const {
    return shortest >= line_bytes && rounds_ > 0 && rounds_ <= otherwise;
  }

  std::size_t rounds() const { return rounds_; }
  /// Rounds carry about as much of a block as each other, for of what goes one way in one of them only as
  /// much goes by pairwise cells as comes back in the next.
  Part part(std::size_t block, std::size_t round) const { return part_of(block, round, step(block)); }
  /// How much of a block each round carries, but for the last.
  std::size_t step(std::size_t block) const {
    if (block <= cell_) return cell_;
    const std::size_t rounds = rounds_of(block), grains = (block + grain_ - 1) / grain_;
    return (grains + rounds - 1) / rounds * grain_;
  }

 private:
  std::size_t rounds_of(std::size_t block) const { return (block + cell_ - 1) / cell_; }

  std::size_t cell_ = 0;
  std::size_t grain_ = 1;
  std::size_t rounds_ = 0;
};

/// Writes this round's parts of all blocks but the rank's own. `returned`: what bytes_of() the blocks that
/// each rank has for this one.
template <Machine M, class B, class R>
void write_pairwise_cells(M& m, const void* send, const B& blocks, const R& returned,
                          const PairwiseCells& cells, const Round& round) {
  // What lies in these cells is of the round before, be it the last of a call like this one.
  const std::size_t before = (round.index > 0 ? round.index : cells.rounds()) - 1;
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    const Part part = cells.part(blocks.bytes_of(peer), round.index);
    if (part.bytes == 0) continue;
    const std::size_t comes_back = cells.part(returned.bytes_of(peer), before).bytes;
    std::byte* cell = m.pairwise_cell(m.rank(), peer, round.steps);
    show_part(m, cell, block_of(send, blocks, peer), part, comes_back);
    if (comes_back < part.bytes) m.flush_for_readers(cell + comes_back, part.bytes - comes_back);
  }
}

}  // namespace espalier::collective
