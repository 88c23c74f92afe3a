// Which algorithm serves a call, with what parameters, and why (DESIGN, idea 4).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tree/spec.hpp"

namespace espalier::plan {

enum class Algorithm : unsigned char {
  host,         ///< left to the host MPI
  exchange,     ///< every rank publishes, every rank reads all others
  central,      ///< one arrival counter; the last to arrive does the work for everybody
  tree,         ///< release and gather along trees (RG)
  sliced,       ///< every rank reduces its slice straight from all others' slots, then all copy
  direct,       ///< whoever wants data reads them from the slots of whoever has them
  single_copy,  ///< readers read straight from the owner's buffer, through the kernel
};

inline constexpr std::array<std::string_view, 7> algorithm_names = {
    "host", "exchange", "central", "tree", "sliced", "direct", "single-copy"};

constexpr std::string_view to_string(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

constexpr std::optional<Algorithm> parse_algorithm(std::string_view name) {
  for (std::size_t i = 0; i < algorithm_names.size(); ++i)
    if (algorithm_names[i] == name) return static_cast<Algorithm>(i);
  return std::nullopt;
}

/// Where a rule stands.
struct Origin {
  std::string file;
  int line = 0;
  std::string rule;  ///< the rule as it is written there
};

struct Plan {
  Algorithm algorithm = Algorithm::host;
  std::size_t chunk = 32 * 1024;  ///< bytes; may span several slots
  bool inlined = true;            ///< small data rides in the flag line (RG III-D)
  bool read_from_parent = true;   ///< children poll their parent's flag (RG III-B)
  bool skip_gather = true;     ///< a bcast's root waits for readers only when it needs their slot (RG III-C)
  bool copy_avoidance = true;  ///< the root reduces straight into the receive buffer (RG III-E)
  tree::Spec gather_tree;
  tree::Spec release_tree;
  Origin origin;
};

}  // namespace espalier::plan
