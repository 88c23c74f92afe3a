// One value for each rank, for as long as a call takes.
#pragma once

#include <cstddef>
#include <memory>

namespace espalier {

/// Has room for the values of 32 ranks, and one more, in itself: a call among so few asks for no memory.
template <class T>
class ByRank {
 public:
  ByRank() = default;
  explicit ByRank(std::size_t entries) { make(entries); }
  ByRank(const ByRank&) = delete;
  ByRank& operator=(const ByRank&) = delete;

  /// Once. The entries may hold anything at first.
  void make(std::size_t entries) {
    if (entries > few) [[unlikely]] {
      more_ = std::make_unique_for_overwrite<T[]>(entries);
      data_ = more_.get();
    }
    size_ = entries;
  }

  std::size_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }

 private:
  static constexpr std::size_t few = 33;
  T here_[few];
  std::unique_ptr<T[]> more_;
  T* data_ = here_;
  std::size_t size_ = 0;
};

}  // namespace espalier
