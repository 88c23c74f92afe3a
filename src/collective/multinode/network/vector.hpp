// A vector that is folded between nodes, and how it is cut.
#pragma once

#include <algorithm>
#include <cstddef>

#include "network/concept.hpp"
#include "network/task.hpp"
#include "plan/plan.hpp"
#include "reduce/operation.hpp"

namespace espalier::collective::multinode {

using network::Network;
using network::Task;
using plan::parts_a_round;

/// `bytes` of elements that an algorithm works on in place, and room for what arrives: the algorithm says how
/// much it needs.
struct Vector {
  std::byte* data;
  std::size_t bytes;
  std::byte* scratch;
  const reduce::Operation& operation;
};

/// target = left op right; target may be either.
inline void fold(const reduce::Operation& operation, std::byte* target, const std::byte* left,
                 const std::byte* right, std::size_t bytes) {
  const void* sources[] = {left, right};
  if (bytes > 0) operation.kernel(target, sources, 2, bytes / operation.extent);
}

/// A vector cut into `count` slices of whole elements; the sizes differ by one element at most.
class Slices {
 public:
  Slices(std::size_t bytes, std::size_t extent, int count)
      : elements_(bytes / extent), extent_(extent), count_(static_cast<std::size_t>(count)) {}

  /// Where slice `index` begins, in bytes; for index == count where the vector ends.
  std::size_t begin(int index) const {
    return elements_ * static_cast<std::size_t>(index) / count_ * extent_;
  }
  std::size_t bytes(int first, int last) const { return begin(last) - begin(first); }
  std::size_t bytes(int index) const { return bytes(index, index + 1); }
  int count() const { return static_cast<int>(count_); }

 private:
  std::size_t elements_, extent_, count_;
};

/// `number` modulo n, from 0 to n - 1 for negative numbers, too.
inline int around(int number, int n) { return (number % n + n) % n; }

}  // namespace espalier::collective::multinode
