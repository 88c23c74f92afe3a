// The collectives that Espalier knows, and what is true of each, whatever serves it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
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
  exscan,
  alltoallw,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw
};

/// Some of them. To ask for one takes a few instructions.
class CollectiveSet {
 public:
  constexpr CollectiveSet(std::initializer_list<Collective> all) {
    for (const Collective each : all) bits_ |= bit(each);
  }
  constexpr bool contains(Collective collective) const { return (bits_ & bit(collective)) != 0; }

 private:
  static constexpr std::uint32_t bit(Collective collective) {
    return std::uint32_t{1} << static_cast<unsigned>(collective);
  }
  std::uint32_t bits_ = 0;
};

/// What all ranks of a call know of its length: `bytes` of a rule, of a plan, and of a line about a call.
enum class Length : std::uint8_t {
  none,       ///< no data, or blocks whose lengths a rank does not know of the others
  vector,     ///< of the buffer
  block,      ///< of one rank's block
  mean,       ///< of the blocks of all ranks, the mean
  all_blocks  ///< of one rank's blocks, together
};

struct CollectiveTraits {
  std::string_view name;
  Length length = Length::vector;
  bool has_root = false;
  bool moves_blocks = false;  ///< data are blocks, each of one rank for one or all others
  bool has_v_form = false;    ///< blocks of any length: the v form, or reduce_scatter
  bool reduces = false;       ///< combines elements by an operator
  bool is_scan = false;       ///< a reduction over the ranks up to this one
  bool node_only = false;     ///< over several nodes it is the host's
  bool in_pieces = false;     ///< from each rank to each other goes what may lie in many pieces
};

/// Any number of pieces of any layout go from each rank to any other; their names are MPI's.
constexpr CollectiveTraits in_pieces(std::string_view name) {
  return {.name = name,
          .length = Length::none,
          .moves_blocks = true,
          .has_v_form = true,
          .node_only = true,
          .in_pieces = true};
}

/// In the order of Collective.
inline constexpr std::array collective_traits = {
    CollectiveTraits{.name = "barrier", .length = Length::none},
    CollectiveTraits{.name = "bcast", .has_root = true},
    CollectiveTraits{.name = "reduce", .has_root = true, .reduces = true},
    CollectiveTraits{.name = "allreduce", .reduces = true},
    CollectiveTraits{.name = "allgather", .length = Length::block, .moves_blocks = true},
    CollectiveTraits{.name = "allgatherv", .length = Length::mean, .moves_blocks = true, .has_v_form = true},
    CollectiveTraits{.name = "gather", .length = Length::block, .has_root = true, .moves_blocks = true},
    CollectiveTraits{.name = "gatherv",
                     .length = Length::none,
                     .has_root = true,
                     .moves_blocks = true,
                     .has_v_form = true},
    CollectiveTraits{.name = "scatter", .length = Length::block, .has_root = true, .moves_blocks = true},
    CollectiveTraits{.name = "scatterv",
                     .length = Length::none,
                     .has_root = true,
                     .moves_blocks = true,
                     .has_v_form = true},
    CollectiveTraits{.name = "alltoall", .length = Length::all_blocks, .moves_blocks = true},
    CollectiveTraits{.name = "alltoallv", .length = Length::none, .moves_blocks = true, .has_v_form = true},
    CollectiveTraits{.name = "reduce_scatter_block", .reduces = true},
    CollectiveTraits{.name = "reduce_scatter", .has_v_form = true, .reduces = true},
    CollectiveTraits{.name = "scan", .reduces = true, .is_scan = true},
    CollectiveTraits{.name = "exscan", .reduces = true, .is_scan = true},
    in_pieces("alltoallw"),
    in_pieces("neighbor_allgather"),
    in_pieces("neighbor_allgatherv"),
    in_pieces("neighbor_alltoall"),
    in_pieces("neighbor_alltoallv"),
    in_pieces("neighbor_alltoallw"),
};

inline constexpr int collective_count = static_cast<int>(collective_traits.size());
static_assert(static_cast<int>(Collective::neighbor_alltoallw) + 1 == collective_count);
static_assert(collective_count <= 32, "a CollectiveSet has a bit for each");

constexpr const CollectiveTraits& traits(Collective collective) {
  return collective_traits[static_cast<std::size_t>(collective)];
}

/// Whether rules know how long a call is. Of a scatterv and its like they do not (docs/rules.md).
constexpr bool has_length(Collective collective) { return traits(collective).length != Length::none; }

constexpr std::string_view to_string(Collective collective) { return traits(collective).name; }

inline constexpr std::array<Collective, collective_count> all_collectives = [] {
  std::array<Collective, collective_count> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Collective>(i);
  return all;
}();

inline constexpr std::array<std::string_view, collective_count> collective_names = [] {
  std::array<std::string_view, collective_count> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = collective_traits[i].name;
  return names;
}();

constexpr std::optional<Collective> parse_collective(std::string_view name) {
  for (const Collective collective : all_collectives)
    if (to_string(collective) == name) return collective;
  return std::nullopt;
}

}  // namespace espalier
