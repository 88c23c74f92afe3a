// Blocks of the three distributions of NOTIFY II-B, and of others, with checked content.
#pragma once

#include <string>
#include <vector>

#include "collective/core/blocks.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::testing {

/// How many elements each rank's block has.
struct Distribution {
  std::string name;
  std::vector<std::size_t> counts;
};

inline std::vector<Distribution> distributions(int ranks, std::size_t mean) {
  const auto n = static_cast<std::size_t>(ranks);
  Distribution regular{"regular", std::vector<std::size_t>(n, mean)}, decreasing{"linearly decreasing", {}},
      first{"all at the first", std::vector<std::size_t>(n)},
      last{"all at the last", std::vector<std::size_t>(n)}, gaps{"every other has nothing", {}};
  for (std::size_t i = 0; i < n; ++i)
    decreasing.counts.push_back(n == 1 ? mean : 2 * mean * (n - 1 - i) / (n - 1));
  first.counts.front() = last.counts.back() = n * mean;
  for (std::size_t i = 0; i < n; ++i) gaps.counts.push_back(i % 2 ? 2 * mean + i : 0);
  return {regular, decreasing, first, last, gaps};
}

/// Places of blocks of doubles, one behind the other but for a gap of one element.
class TreePositions {
 public:
  explicit TreePositions(const std::vector<std::size_t>& counts) {
    for (const std::size_t count : counts) {
      bytes_.push_back(count * sizeof(double));
      offsets_.push_back(end_ * sizeof(double));
      end_ += count + 1;
    }
  }
  collective::Blocks view() const { return {bytes_, offsets_}; }
  std::size_t elements() const { return end_; }
  std::size_t first(int rank) const { return offsets_[static_cast<std::size_t>(rank)] / sizeof(double); }
  std::size_t count(int rank) const { return bytes_[static_cast<std::size_t>(rank)] / sizeof(double); }

 private:
  std::vector<std::size_t> bytes_, offsets_;
  std::size_t end_ = 0;
};

/// What lies in a gap.
inline constexpr double untouched_value = -12345.5;

}  // namespace espalier::testing
