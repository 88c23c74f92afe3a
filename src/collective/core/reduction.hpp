// What a reduction works on.
#pragma once

#include <cstddef>

#include "reduce/operation.hpp"

namespace espalier::collective {

/// A rank's vectors and what is done to them.
struct Reduction {
  const void* send;
  void* receive;
  std::size_t bytes;
  const reduce::Operation& operation;
};

}  // namespace espalier::collective
