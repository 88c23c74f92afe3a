// Where everything of a prepared collective lies in the memory that its ranks share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/by_rank.hpp"
#include "collective/schedule/persistent_spec.hpp"
#include "collective/schedule/schedule.hpp"

namespace espalier::collective {

/// Where the block that a rank gives to one reader lies, from where the rank's cells begin; in one cell with
/// all others, unless blocks lie apart.
struct LayoutCell {
  std::size_t offset, bytes;  ///< in all that the rank gives; no bytes: nothing
  std::size_t place;
  std::size_t stride;  ///< to the place in odd epochs; 0: that is the reader's cell for this rank
};

/// Of one rank, by reader. Two ranks whose blocks lie apart and who give each other something have one cell
/// each, which belong to each pair; other cells are there twice.
struct LayoutCells {
  LayoutCells(const PersistentSpec& spec, int rank);
  std::vector<LayoutCell> of;
  std::size_t bytes = 0;  ///< all together
};

/// What all ranks know of each.
struct Contribution {
  std::size_t given_bytes;  ///< PersistentSpec::given_bytes
  std::size_t cells_bytes;  ///< LayoutCells::bytes
};

/// A region for each rank, and what they fold in common. A region: a table of the rank's cells, in which
/// readers find theirs, and the cells.
class BufferLayout {
 public:
  /// From `begin` on, where a page begins. `log2_chunk`: no chunk ends within an element.
  BufferLayout(Collective collective, std::span<const Contribution> all, std::size_t begin,
               int log2_chunk = 15);

  /// What goes one way is read while it is written, in chunks; ranks that all write and then all read gain
  /// nothing by it.
  const Schedule::Chunks& chunks() const { return chunks_; }
  /// Slots of the ranks' machine, whose flag lines alone are used: one line for all chunks, or two in turns,
  /// in which data may ride.
  int slots() const { return chunks_.log2_count > 0 ? 1 : 2; }

  std::size_t region(int rank) const { return begins_[static_cast<std::size_t>(rank)]; }
  std::size_t region_bytes(int rank) const;
  /// In the table of `giver`, the cell for `reader`.
  std::size_t table(int giver, int reader) const;
  std::size_t common() const { return common_; }
  std::size_t common_bytes() const { return end_ - common_; }
  std::size_t end() const { return end_; }

  /// Whether all data ride in flag lines; then regions hold none.
  bool rides_in_lines(const PersistentSpec& spec) const;

  /// What `rank` does, whose spec this is and whose lists it takes. `own`: its cells; `cells`: of each giver,
  /// the one for this rank.
  Schedule prepare(PersistentSpec& spec, const LayoutCells& own, int rank, std::byte* base,
                   std::span<const LayoutCell> cells) const;

 private:
  std::size_t table_bytes() const;
  std::byte* at(std::byte* base, int rank, const LayoutCell& cell) const;
  void place(const PersistentSpec& spec, const LayoutCells& own, int rank, std::byte* base,
             std::span<const LayoutCell> cells, Schedule& schedule) const;
  void share_fold(const PersistentSpec& spec, std::byte* base, Schedule& schedule) const;

  ByRank<Contribution> all_;
  Schedule::Chunks chunks_;
  ByRank<std::size_t> begins_;
  std::size_t common_ = 0, end_ = 0;
};

}  // namespace espalier::collective
