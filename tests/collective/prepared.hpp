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
  /// `spec_of(rank)`.
  template <class SpecOf>
  Sketch(int ranks, int log2_chunk, SpecOf spec_of) {
    std::vector<collective::Contribution> all;
    for (int rank = 0; rank < ranks; ++rank) {
      specs_.push_back(spec_of(rank));
      cells_.emplace_back(specs_.back(), rank);
      all.push_back({specs_.back().given_bytes, cells_.back().bytes});
    }
    buffer_layout_ = std::make_unique<collective::BufferLayout>(moves_as(specs_.front()), all, 0, log2_chunk);
  }
  const collective::BufferLayout& buffer_layout() const { return *buffer_layout_; }
  /// `base`: of plot().end() bytes.
  collective::Schedule prepare(int rank, std::byte* base) const {
    std::vector<collective::LayoutCell> cells;
    for (const collective::LayoutCells& each : cells_)
      cells.push_back(each.of[static_cast<std::size_t>(rank)]);
    const auto own = static_cast<std::size_t>(rank);
    collective::PersistentSpec spec = specs_[own];
    return buffer_layout_->prepare(spec, cells_[own], rank, base, cells);
  }

 private:
  std::vector<collective::PersistentSpec> specs_;
  std::vector<collective::LayoutCells> cells_;
  std::unique_ptr<collective::BufferLayout> buffer_layout_;
};

}  // namespace espalier::testing
