// Blocks of bytes that ranks exchange in scenarios.
#pragma once

#include "collective/core/blocks.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/simulation/checker/making.hpp"

namespace espalier::testing {

inline void expect(const Bytes& got, const Bytes& wanted, const char* what) {
  Execution::current().expect(got == wanted, what);
  Execution::current().result(got.data(), got.size());
}

/// The rank uses these buffers for something else, and frees them perhaps: no other rank may read them any more.
template <class... Buffers>
void use_again(const Buffers&... buffers) {
  (Execution::current().use_again(buffers.data(), buffers.size() * sizeof *buffers.data()), ...);
}

/// Nothing, little, a few slots, by turns.
inline std::size_t few_bytes(int rank, int round) {
  static constexpr std::size_t pattern[] = {0, 3, 150, 1, 64, 0, 100};
  return pattern[static_cast<std::size_t>(rank * 3 + round * 2) % std::size(pattern)];
}
/// The same where chunks are of 4 KiB.
inline std::size_t many_bytes(int rank, int round) {
  static constexpr std::size_t pattern[] = {0, 30, 9000, 1, 4200, 0, 112};
  return pattern[static_cast<std::size_t>(rank * 3 + round * 2) % std::size(pattern)];
}

}  // namespace espalier::testing
