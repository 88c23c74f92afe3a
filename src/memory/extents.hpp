// Which parts of a range of addresses are free.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace espalier::memory {

/// Free runs of bytes, by where they begin. The lowest that fits is taken, so that what is in use stays
/// together.
class Extents {
 public:
  explicit Extents(std::size_t bytes) : free_{{0, bytes}} {}

  /// The offset of `bytes` that begin on a multiple of `alignment`, a power of two; none: no run is so long.
  std::optional<std::size_t> take(std::size_t bytes, std::size_t alignment) {
    for (auto run = free_.begin(); run != free_.end(); ++run) {
      const auto [begin, end] = *run;
      const std::size_t first = (begin + alignment - 1) & ~(alignment - 1);
      if (first > end || end - first < bytes) continue;
      free_.erase(run);
      if (first > begin) free_[begin] = first;
      if (first + bytes < end) free_[first + bytes] = end;
      return first;
    }
    return std::nullopt;
  }

  /// What was taken, and no other part.
  void give_back(std::size_t offset, std::size_t bytes) {
    std::size_t end = offset + bytes;
    const auto behind = free_.lower_bound(offset);
    if (behind != free_.end() && behind->first == end) {
      end = behind->second;
      free_.erase(behind);
    }
    const auto next = free_.lower_bound(offset);
    if (next != free_.begin() && std::prev(next)->second == offset)
      std::prev(next)->second = end;
    else
      free_[offset] = end;
  }

 private:
  std::map<std::size_t, std::size_t> free_;  // begin -> end
};

}  // namespace espalier::memory
