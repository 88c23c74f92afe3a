// Floats whose sum depends on the order in which they are added.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace espalier::testing {

/// Large and small numbers of both signs: hardly any two orders of addition agree.
inline float float_of(int rank, std::size_t i) {
  const std::size_t mixed = (static_cast<std::size_t>(rank) * 2654435761u + i * 40503u) % 997;
  const float sizes[] = {1e7f, 1.0f, 1e-3f, -1e7f, 3.3333333f};
  return sizes[(static_cast<std::size_t>(rank) + i) % 5] * (1.0f + static_cast<float>(mixed) / 997.0f);
}

inline std::vector<float> floats_of(int rank, std::size_t count) {
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = float_of(rank, i);
  return v;
}

/// From rank `first` to rank `last`, rising or falling; `count` elements from number `begin` on.
inline std::vector<float> sum_in_order(int first, int last, std::size_t count, std::size_t begin = 0) {
  std::vector<float> sum(count);
  for (std::size_t i = 0; i < count; ++i) sum[i] = float_of(first, begin + i);
  for (int rank = first; rank != last;) {
    rank += last > rank ? 1 : -1;
    for (std::size_t i = 0; i < count; ++i) sum[i] += float_of(rank, begin + i);
  }
  return sum;
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace espalier::testing
