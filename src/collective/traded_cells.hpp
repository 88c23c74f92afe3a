// Blocks from every rank to every other by cells that each pair trades (machine/concept.hpp), for ranks that
// meet by counter. They share cores, and so caches: few cells, which hold what was read last, stay there,
// where slots that come by in turns would push everything else out.
#pragma once

#include "collective/blocks.hpp"
#include "collective/meeting.hpp"
#include "collective/rounds.hpp"

namespace espalier::collective {

template <Machine M>
Rounds rounds_in_traded_cells(const M& m, std::size_t count) {
  return {.count = count,
          .span = 1,
          .bytes = m.traded_bytes(),
          .overlap = false,
          .readers = m.everybody_else(),
          .in_cells = true};
}

/// Part i of every block travels in round i.
class TradedCells {
 public:
  /// For blocks of `longest` bytes at most, in whole elements. None where ranks do not meet by counter.
  template <Machine M>
  TradedCells(const M& m, const Meeting<M>& meeting, std::size_t longest, std::size_t element = 1) {
    if (!meeting.is_central() || m.traded_bytes() < element) return;
    cell_ = m.traded_bytes() / element * element;
    rounds_ = (longest + cell_ - 1) / cell_;
  }

  /// Whether they take no more rounds than `otherwise`, each of which is a meeting. Blocks that are shorter
  /// than a line had better lie close together.
  bool serve(std::size_t shortest, std::size_t otherwise) const {
    return shortest >= line_bytes && rounds_ > 0 && rounds_ <= otherwise;
  }

  /// Of a cell.
  std::size_t bytes() const { return cell_; }
  std::size_t rounds() const { return rounds_; }
  Part part(std::size_t block, std::size_t round) const { return part_of(block, round, cell_); }

 private:
  std::size_t cell_ = 0;
  std::size_t rounds_ = 0;
};

/// Writes this round's parts of all blocks but the rank's own.
template <Machine M, class B>
void write_traded_cells(M& m, const void* send, const B& blocks, const TradedCells& cells,
                        const Round& round) {
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    const Part part = cells.part(blocks.bytes_of(peer), round.index);
    if (part.bytes > 0)
      m.copy(m.traded_cell(m.rank(), peer, round.first), at(send, blocks.offset_of(peer) + part.offset),
             part.bytes);
  }
}

}  // namespace espalier::collective
