// A buffer whose blocks have each a layout of its own, at places in bytes: what the w forms take.
#pragma once

#include "layouts.hpp"

#include <cstdint>
#include <vector>

namespace checked {

struct MixedBlock {
  const Layout* layout;
  long ints;  // of data, whole multiples of what an element of the layout holds
};

class Mixed {
 public:
  // Out of order, with holes between; places may be negative.
  Mixed(std::vector<MixedBlock> blocks, std::uint64_t seed);

  // What MPI gets.
  void* address() { return cells_.data() + base_; }
  const MPI_Datatype* types() const { return types_.data(); }
  template <class T>
  std::vector<T> counts() const {
    std::vector<T> result;
    for (const MixedBlock& block : blocks_)
      result.push_back(static_cast<T>(block.ints / static_cast<long>(block.layout->cells.size())));
    return result;
  }
  template <class T>
  std::vector<T> places() const {
    std::vector<T> result;
    for (long cell : begins_) result.push_back(static_cast<T>((cell - base_) * 4));
    return result;
  }

  // Writes what `source` sends to `target` into a block.
  void put(std::size_t block, std::uint64_t seed, int source, int target);
  // The whole buffer, with its holes and margins.
  const std::vector<std::uint32_t>& cells() const { return cells_; }

 private:
  std::vector<MixedBlock> blocks_;
  std::vector<long> begins_;  // of each block's address, in ints from the start of `cells_`
  std::vector<MPI_Datatype> types_;
  std::vector<std::uint32_t> cells_;
  long base_;
};

}  // namespace checked
