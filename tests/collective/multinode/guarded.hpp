// Memory that notices writes beside it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace espalier::testing {

/// `bytes` of rubbish between two guards, which are looked at in the end.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), all_(new std::byte[bytes + 2 * guard]) {
    std::fill_n(all_.get(), bytes_ + 2 * guard, mark);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    EXPECT_TRUE(is_marked(0, guard)) << "written in front of a buffer";
    EXPECT_TRUE(is_marked(guard + bytes_, guard)) << "written behind a buffer of " << bytes_ << " bytes";
  }

  std::byte* data() { return all_.get() + guard; }
  std::size_t size() const { return bytes_; }
  bool is_untouched() const { return is_marked(0, bytes_ + 2 * guard); }

 private:
  bool is_marked(std::size_t first, std::size_t count) const {
    return std::all_of(all_.get() + first, all_.get() + first + count, [](std::byte b) { return b == mark; });
  }

  static constexpr std::size_t guard = 64;
  static constexpr std::byte mark{0xa5};
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> all_;
};

/// A vector of elements in guarded memory.
template <class T>
class GuardedVector {
 public:
  explicit GuardedVector(std::size_t count) : memory_(count * sizeof(T)) {}
  explicit GuardedVector(const std::vector<T>& values) : GuardedVector(values.size()) { assign(values); }

  void assign(const std::vector<T>& values) {
    if (!values.empty()) std::memcpy(memory_.data(), values.data(), values.size() * sizeof(T));
  }
  std::byte* bytes() { return memory_.data(); }
  std::size_t size_bytes() const { return memory_.size(); }
  bool is_untouched() const { return memory_.is_untouched(); }
  std::vector<T> values() {
    std::vector<T> result(memory_.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), memory_.data(), memory_.size());
    return result;
  }

 private:
  Guarded memory_;
};

}  // namespace espalier::testing
