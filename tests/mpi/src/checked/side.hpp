// One side of a call that moves blocks: the program's buffer, as it is and as it must become.
#pragma once

#include "layouts.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace checked {

// Lengths and places of blocks, in ints of data: whole multiples of what an element of the layout holds.
struct Arrangement {
  std::vector<long> lengths, places;
};

// `blocks` of one length, one behind the other.
Arrangement even(int blocks, long length);
// Blocks of the lengths given, out of order and with holes between; places may be negative.
Arrangement scattered(std::vector<long> lengths, long unit, std::uint64_t seed);

// The int that `source` sends to `target` as its k-th.
std::uint32_t sent(std::uint64_t seed, int source, int target, long k);

class Side {
 public:
  Side(const Layout& layout, Arrangement arrangement);

  // What MPI gets.
  void* address() { return cells_.data() + base_; }
  MPI_Datatype type() const { return layout_.type; }
  const char* name() const { return layout_.name; }
  // Of one block, in elements of the type.
  long count(int block = 0) const { return elements(arrangement_.lengths[static_cast<std::size_t>(block)]); }
  template <class T>
  std::vector<T> counts() const {
    return numbers<T>(arrangement_.lengths);
  }
  template <class T>
  std::vector<T> places() const {
    return numbers<T>(arrangement_.places);
  }

  // Writes what `source` sends to `target` into a block.
  void put(int block, std::uint64_t seed, int source, int target);
  // The whole buffer, with its holes and margins.
  const std::vector<std::uint32_t>& cells() const { return cells_; }

 private:
  long elements(long ints) const { return ints / static_cast<long>(layout_.cells.size()); }
  template <class T>
  std::vector<T> numbers(const std::vector<long>& ints) const {
    std::vector<T> result;
    for (long number : ints) result.push_back(static_cast<T>(elements(number)));
    return result;
  }

  const Layout& layout_;
  Arrangement arrangement_;
  std::vector<std::uint32_t> cells_;
  long base_ = 0;
};

}  // namespace checked
