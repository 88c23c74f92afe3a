// The collectives that Espalier knows, as values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace espalier {

enum class Collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  alltoall,
  alltoallv,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan
};

inline constexpr int collective_count = 16;

inline constexpr std::array<std::string_view, collective_count> collective_names = {
    "barrier", "bcast",   "reduce",   "allreduce", "allgather", "allgatherv",           "gather",
    "gatherv", "scatter", "scatterv", "alltoall",  "alltoallv", "reduce_scatter_block", "reduce_scatter",
    "scan",    "exscan"};

inline constexpr std::array<Collective, collective_count> all_collectives = [] {
  std::array<Collective, collective_count> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Collective>(i);
  return all;
}();

constexpr std::string_view to_string(Collective collective) {
  return collective_names[static_cast<std::size_t>(collective)];
}

constexpr std::optional<Collective> parse_collective(std::string_view name) {
  for (std::size_t i = 0; i < collective_names.size(); ++i)
    if (collective_names[i] == name) return static_cast<Collective>(i);
  return std::nullopt;
}

}  // namespace espalier
