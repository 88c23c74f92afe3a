// An operator that does not commute: affine maps x -> a x + b modulo a prime, composed. Associative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::testing {

struct Affine {
  std::uint64_t a, b;
  bool operator==(const Affine&) const = default;
};

inline Affine after(const Affine& left, const Affine& right) {
  constexpr std::uint64_t prime = 1000003;
  return {left.a * right.a % prime, (left.b * right.a + right.b) % prime};
}

inline Affine map_of(int rank, std::size_t index) {
  return {static_cast<std::uint64_t>(rank) * 17 + index + 2,
          static_cast<std::uint64_t>(rank) * 1009 + index * 3 + 1};
}

inline std::vector<Affine> maps_of(int rank, std::size_t count) {
  std::vector<Affine> maps(count);
  for (std::size_t i = 0; i < count; ++i) maps[i] = map_of(rank, i);
  return maps;
}

/// Ranks `first` to `last` in rank order.
inline std::vector<Affine> composed(int first, int last, std::size_t count) {
  std::vector<Affine> maps = maps_of(first, count);
  for (int rank = first + 1; rank <= last; ++rank)
    for (std::size_t i = 0; i < count; ++i) maps[i] = after(maps[i], map_of(rank, i));
  return maps;
}

/// right = left op right, as a WholeOperation asks for it; the context is the number of maps.
struct Length {
  std::size_t count;
};
inline void combine_affine(void* context, const void* left, void* right) {
  const auto* l = static_cast<const Affine*>(left);
  auto* r = static_cast<Affine*>(right);
  for (std::size_t i = 0; i < static_cast<Length*>(context)->count; ++i) r[i] = after(l[i], r[i]);
}

}  // namespace espalier::testing
