// Where the data of a datatype lie: the one form to which all datatypes come down.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace espalier::memory {

/// `count` runs of `bytes` each, `stride` bytes from one to the next; `offset`: of the first, from the address
/// of the element.
struct Comb {
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::ptrdiff_t stride = 0;

  std::size_t total() const { return bytes * count; }
  std::ptrdiff_t end_of_last() const {
    return offset + static_cast<std::ptrdiff_t>(count - 1) * stride + static_cast<std::ptrdiff_t>(bytes);
  }
};

/// One element of a datatype: combs in the order of the type map, that is in the order in which data are
/// packed. Constant once it is made; then all functions are thread-safe.
class Runs {
 public:
  /// The next comb in the order of the type map. It becomes one with the last where the two are one.
  void add(Comb comb);
  /// All of `inner`, `count` times, `stride` bytes apart, the first `offset` bytes from here. False, and
  /// nothing is of use any more: it would take more than `most_combs`.
  bool add(const Runs& inner, std::size_t count, std::ptrdiff_t stride, std::ptrdiff_t offset);
  /// Bytes from one element to the next.
  void set_extent(std::ptrdiff_t extent) { extent_ = extent; }

  std::size_t size() const { return size_; }  ///< bytes of data
  std::ptrdiff_t extent() const { return extent_; }
  const std::vector<Comb>& combs() const { return combs_; }
  bool is_one_run() const { return combs_.size() == 1 && combs_[0].count == 1; }
  /// Of the comb in which a byte of the packed form lies.
  std::size_t comb_at(std::size_t offset) const {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) -
                                    begins_.begin()) -
           1;
  }
  /// Where a comb begins in the packed form.
  std::size_t begin_of(std::size_t comb) const { return begins_[comb]; }

  static constexpr std::size_t most_combs = std::size_t{1} << 14;

 private:
  bool join(const Comb& comb);

  std::vector<Comb> combs_;
  std::vector<std::size_t> begins_;
  std::size_t size_ = 0;
  std::ptrdiff_t extent_ = 0;
};

}  // namespace espalier::memory
