// Memory that notices writes beside it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace espalier::testing {

/// `bytes` of rubbish between two guards, which are looked at in the end.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : all_(bytes + 2 * guard, mark) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    const auto is_mark = [](std::byte b) { return b == mark; };
    EXPECT_TRUE(std::all_of(all_.begin(), all_.begin() + guard, is_mark)) << "written in front of a buffer";
    EXPECT_TRUE(std::all_of(all_.end() - guard, all_.end(), is_mark))
        << "written behind a buffer of " << all_.size() - 2 * guard << " bytes";
  }

  std::byte* data() { return all_.data() + guard; }
  std::size_t size() const { return all_.size() - 2 * guard; }
  bool is_untouched() const {
    return std::all_of(all_.begin(), all_.end(), [](std::byte b) { return b == mark; });
  }

 private:
  static constexpr std::ptrdiff_t guard = 64;
  static constexpr std::byte mark{0xa5};
  std::vector<std::byte> all_;
};

/// A vector of elements in guarded memory.
template <class T>
class GuardedVector {
 public:
  explicit GuardedVector(std::size_t count) : memory_(count * sizeof(T)) {}
  explicit GuardedVector(const std::vector<T>& values) : GuardedVector(values.size()) { assign(values); }

  void assign(const std::vector<T>& values) {
    if (!values.empty()) std::memcpy(memory_.data(), values.data(), memory_.size());
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
