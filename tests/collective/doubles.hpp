// Sums of vectors of doubles, as bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "reduce/operation.hpp"

namespace espalier::testing {

inline const reduce::Operation& sum_of_doubles() {
  return *reduce::find(reduce::Op::sum, reduce::Type::float64);
}

inline std::byte* bytes_of(std::vector<double>& v) { return reinterpret_cast<std::byte*>(v.data()); }

}  // namespace espalier::testing
