// Nested groups as levels: who are the members of each group, and who leads it.
#pragma once

#include <string_view>
#include <vector>

#include "topology/group.hpp"

namespace espalier::tree {

// The ranks that run one base case together (OSMP V-C): ranks of the group itself and leaders of its inner
// groups.
struct LevelGroup {
  int level = 0;  // 0 without inner groups, else one more than the highest of those
  topology::Level domain = topology::Level::machine;
  std::vector<int> members;  // the leader first, then in the order of the lowest rank that each stands for

  friend bool operator==(const LevelGroup&, const LevelGroup&) = default;
};

// All groups, inner ones before those around them: the last one is the outermost. A group's leader is its
// lowest rank, but `root` leads every group that it is a member of, and there the members are rotated, as in
// compose().
std::vector<LevelGroup> level_groups(const topology::Group& group, int root);

// Where a rank stands among the members; -1: it is none.
int place_in(const LevelGroup& group, int rank);

// OSMP VI, more than once: splits lowest groups of more than `degree` ranks into `degree` virtual ones,
// `times` times.
topology::Group split_virtual_levels(topology::Group group, int degree, int times);

// Groups as a user writes them: "((0 1 2) (3 4) 5)". The outermost counts as the machine, the others as
// virtual domains, unless a group's levels stand in front of it, as topology::print() writes them. Throws
// Error that names the column, or the rank of 0 to size - 1 that is missing or comes twice.
topology::Group parse_groups(std::string_view text, int size);

// The same of some ranks, whose numbers it does not check: of one node, for instance.
topology::Group parse_some_groups(std::string_view text);

}  // namespace espalier::tree
