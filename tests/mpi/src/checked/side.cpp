#include "side.hpp"

#include "values.hpp"

#include <algorithm>
#include <numeric>

namespace checked {
namespace {

constexpr long margin = 24;  // cells around the data that no rank may touch

}  // namespace

Arrangement even(int blocks, long length) {
  Arrangement result;
  for (int block = 0; block < blocks; ++block) {
    result.lengths.push_back(length);
    result.places.push_back(block * length);
  }
  return result;
}

Arrangement scattered(std::vector<long> lengths, long unit, std::uint64_t seed) {
  Arrangement result{std::move(lengths), {}};
  std::size_t blocks = result.lengths.size();
  std::vector<std::size_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(random_bits(seed, 1, a), a) < std::pair(random_bits(seed, 1, b), b);
  });
  result.places.resize(blocks);
  long place = unit * (static_cast<long>(seed % 7) - 5);
  for (std::size_t block : order) {
    place += unit * static_cast<long>(random_bits(seed, 2, block) % 3);
    result.places[block] = place;
    place += result.lengths[block];
  }
  return result;
}

std::uint32_t sent(std::uint64_t seed, int source, int target, long k) {
  return word(seed, source * 1031 + target, k);
}

Side::Side(const Layout& layout, Arrangement arrangement)
    : layout_(layout), arrangement_(std::move(arrangement)) {
  long lowest = 0, highest = 0;
  for (std::size_t i = 0; i < arrangement_.lengths.size(); ++i) {
    lowest = std::min(lowest, elements(arrangement_.places[i]));
    highest = std::max(highest, elements(arrangement_.places[i] + arrangement_.lengths[i]));
  }
  base_ = margin - lowest * layout.extent;
  cells_.assign(static_cast<std::size_t>(base_ + highest * layout.extent + margin), hole);
}

void Side::put(int block, std::uint64_t seed, int source, int target) {
  auto at = static_cast<std::size_t>(block);
  long begin = base_ + elements(arrangement_.places[at]) * layout_.extent;
  for (long k = 0; k < arrangement_.lengths[at]; ++k)
    cells_[static_cast<std::size_t>(begin + position(layout_, k))] = sent(seed, source, target, k);
}

}  // namespace checked
