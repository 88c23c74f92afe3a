// Counts and displacements that the program passes as an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// An array of int (plain forms) or of MPI_Count or MPI_Aint (_c forms). Not owned, not looked at until
/// asked.
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(const int* values) : values_(values) {}
  /// Either type, whatever they are to the compiler: hosts define them as long or long long.
  static Numbers wide(const void* values) {
    Numbers numbers;
    numbers.values_ = values;
    numbers.wide_ = true;
    return numbers;
  }

  std::int64_t operator[](int index) const {
    const auto at = static_cast<std::size_t>(index);
    return wide_ ? read<std::int64_t>(at) : read<int>(at);
  }
  const void* data() const { return values_; }
  const int* ints() const { return static_cast<const int*>(values_); }
  bool is_wide() const { return wide_; }

 private:
  static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8);

  template <class T>
  T read(std::size_t index) const {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(values_) + index * sizeof(T), sizeof(T));
    return value;
  }

  const void* values_ = nullptr;
  bool wide_ = false;
};

}  // namespace espalier::mpi
