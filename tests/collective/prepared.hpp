// One rank's part of a prepared collective, in memory that a test has.
#pragma once

#include <memory>
#include <vector>

#include "collective/schedule/buffer_layout.hpp"
#include "collective/schedule/persistent_spec.hpp"
#include "collective/schedule/schedule.hpp"

namespace espalier::testing {

/// All ranks' recipes, as one rank knows them: of the others' only lengths matter.
class Sketch {
 public:
  /// `recipe_of(rank)`.
  template <class RecipeOf>
  Sketch(int ranks, int log2_chunk, RecipeOf recipe_of) {
    std::vector<collective::Contribution> all;
    for (int rank = 0; rank < ranks; ++rank) {
      recipes_.push_back(recipe_of(rank));
      cells_.emplace_back(recipes_.back(), rank);
      all.push_back({recipes_.back().given_bytes, cells_.back().bytes});
    }
    plot_ = std::make_unique<collective::Plot>(recipes_.front().collective, all, 0, log2_chunk);
  }
  const collective::Plot& plot() const { return *plot_; }
  /// `base`: of plot().end() bytes.
  collective::Prepared prepare(int rank, std::byte* base) const {
    std::vector<collective::PlotCell> cells;
    for (const collective::PlotCells& each : cells_) cells.push_back(each.of[static_cast<std::size_t>(rank)]);
    return plot_->prepare(recipes_[static_cast<std::size_t>(rank)], rank, base, cells);
  }

 private:
  std::vector<collective::Recipe> recipes_;
  std::vector<collective::PlotCells> cells_;
  std::unique_ptr<collective::Plot> plot_;
};

}  // namespace espalier::testing
