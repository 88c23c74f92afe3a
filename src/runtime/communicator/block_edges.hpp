// Where the blocks of a reduce_scatter begin and end.
#pragma once

#include <cstddef>
#include <span>

#include "base/by_rank.hpp"

namespace espalier::runtime {

/// Where blocks of so many units begin when they lie one after the other, and where the last ends.
struct BlockEdges : ByRank<std::size_t> {
  BlockEdges(std::span<const std::size_t> counts, std::size_t unit) : ByRank(counts.size() + 1) {
    (*this)[0] = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) (*this)[i + 1] = (*this)[i] + counts[i] * unit;
  }
  /// Blocks of one size.
  BlockEdges(int ranks, std::size_t block) : ByRank(static_cast<std::size_t>(ranks) + 1) {
    for (std::size_t i = 0; i < size(); ++i) (*this)[i] = i * block;
  }
  std::size_t total() const { return (*this)[size() - 1]; }
};

}  // namespace espalier::runtime
