#include "mixed.hpp"

#include "side.hpp"
#include "values.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace checked {

Mixed::Mixed(std::vector<MixedBlock> blocks, std::uint64_t seed)
    : blocks_(std::move(blocks)), begins_(blocks_.size()) {
  std::vector<std::size_t> order(blocks_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(random_bits(seed, 3, a), a) < std::pair(random_bits(seed, 3, b), b);
  });
  constexpr long margin = 24;  // more than a layout reaches beyond its elements
  long next = margin;
  for (std::size_t i : order) {
    begins_[i] = next;
    next += blocks_[i].ints / static_cast<long>(blocks_[i].layout->cells.size()) * blocks_[i].layout->extent +
            margin + static_cast<long>(random_bits(seed, 4, i) % 5);
  }
  cells_.assign(static_cast<std::size_t>(next), hole);
  base_ = static_cast<long>(seed % 3) * next / 3;
  types_.push_back(MPI_DATATYPE_NULL);  // data() of none may be null
  types_.clear();
  for (const MixedBlock& block : blocks_) types_.push_back(block.layout->type);
}

void Mixed::put(std::size_t block, std::uint64_t seed, int source, int target) {
  for (long k = 0; k < blocks_[block].ints; ++k)
    cells_[static_cast<std::size_t>(begins_[block] + position(*blocks_[block].layout, k))] =
        sent(seed, source, target, k);
}

}  // namespace checked
