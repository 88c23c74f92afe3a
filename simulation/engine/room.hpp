// Memory of one simulated rank for one call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::simulation {

/// From calloc(), which gives long pieces as address space that reads as zeros: what a rank never writes, as a recorder
/// or one that is not the root, takes no memory.
class Room {
 public:
  std::byte* of(std::size_t bytes) {
    void* piece = std::calloc(std::max<std::size_t>(bytes, 1), 1);
    if (piece == nullptr) throw Error(formatted("no memory for {} bytes of a simulated rank", bytes));
    return pieces_.emplace_back(static_cast<std::byte*>(piece)).get();
  }

 private:
  struct Free {
    void operator()(std::byte* piece) const { std::free(piece); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> pieces_;
};

}  // namespace espalier::simulation
