// Where everything of a prepared collective lies in the memory that its ranks share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collective/prepared.hpp"
#include "collective/recipe.hpp"

namespace espalier::collective {

/// What all ranks know of what each of them gives.
struct Contribution {
  std::size_t bytes = 0;
  bool keeps_own = true;  ///< Recipe::keeps_own()
};

/// A region for each rank, and what they fold in common. A region: a table of the places where each rank
/// finds what it reads, and room for what the rank gives, twice, or once if two ranks trade places.
class Plot {
 public:
  /// From `begin` on, where a page begins. `log2_chunk`: no chunk ends within an element.
  Plot(Collective collective, std::span<const Contribution> all, std::size_t begin, int log2_chunk = 15);

  /// What goes one way is read while it is written, in chunks; ranks that all write and then all read gain
  /// nothing by it.
  const Prepared::Chunks& chunks() const { return chunks_; }
  /// Slots of the ranks' machine, whose flag lines alone are used: one line for all chunks, or two in turns,
  /// in which data may ride.
  int slots() const { return chunks_.log2_count > 0 ? 1 : 2; }

  std::size_t region(int rank) const { return begins_[static_cast<std::size_t>(rank)]; }
  std::size_t region_bytes(int rank) const;
  /// In the table of `giver`, the Recipe::Place for `reader`.
  std::size_t table(int giver, int reader) const;
  std::size_t common() const { return common_; }
  std::size_t common_bytes() const { return end_ - common_; }
  std::size_t end() const { return end_; }

  /// What `rank` does, whose recipe this is. `places`: of what each other rank gives, what this one reads.
  Prepared prepare(const Recipe& recipe, int rank, std::byte* base,
                   std::span<const Recipe::Place> places) const;

 private:
  std::size_t table_bytes() const;
  std::size_t place(std::size_t rank, std::size_t parity) const;
  void share_fold(const Recipe& recipe, std::byte* base, Prepared& prepared) const;

  std::vector<Contribution> all_;
  Prepared::Chunks chunks_;
  bool trades_ = false;
  std::vector<std::size_t> begins_, strides_;
  std::size_t common_ = 0, end_ = 0;
};

}  // namespace espalier::collective
