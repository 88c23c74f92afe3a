#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/group.hpp"
#include "tree/shape.hpp"

namespace espalier::tree {

// RG III-A.2, Fig. 7: whether a leader serves the leaders of other groups before or after the ranks of its
// own group.
enum class Leaders { first, last };

// All that `compose` needs to know beside the groups. Its text is words in any order, each at most once:
//
//   knomial:4                     the shape where no level has its own (flat when not given)
//   numa=flat socket=kary:2       the shape in which the members of a group at that level hang together
//   virtual=7                     splits lowest groups of more than 7 ranks into 7 virtual domains
//   virtual=kary:2                the shape within virtual domains
//   levels=socket,numa            only these levels group ranks (beside the machine); levels=none:
//   topology-unaware leaders=first | last skew=left | right
//
// as in "numa=flat socket=kary:2 machine=knomial:4 virtual=7 leaders=last skew=right".
struct Spec {
  Shape shape;
  std::array<std::optional<Shape>, topology::level_count> level_shapes = {};
  int virtual_degree = 0;                              // 0: no virtual domains
  std::optional<std::vector<topology::Level>> levels;  // those that group ranks, rising; all when not set
  Leaders leaders = Leaders::first;
  Skew skew = Skew::left;

  std::optional<Shape>& at(topology::Level level) { return level_shapes[static_cast<std::size_t>(level)]; }
  const std::optional<Shape>& at(topology::Level level) const {
    return level_shapes[static_cast<std::size_t>(level)];
  }

  // The shape of a group: that of its level, else of the next outer level that the group stands for too, else
  // `shape`.
  Shape shape_of(const topology::Group& group) const;

  friend bool operator==(const Spec&, const Spec&) = default;
};

// The canonical text: what differs from Spec{}, "flat" when nothing does. parse_spec(to_string(s)) == s.
std::string to_string(const Spec& spec);

// An empty text is Spec{}. Throws Error naming the word that cannot be read, its column, and what is allowed
// there.
Spec parse_spec(std::string_view text);

}  // namespace espalier::tree
