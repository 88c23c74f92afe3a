// A hash that is the same in every process and build.
#pragma once

#include <cstdint>
#include <string_view>

namespace espalier {

inline constexpr std::uint64_t hash_seed = 14695981039346656037ull;

/// FNV-1a. `seed`: the hash of what comes before `text`.
inline std::uint64_t hash(std::string_view text, std::uint64_t seed = hash_seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return seed;
}

}  // namespace espalier
