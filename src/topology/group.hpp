#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace espalier::topology {

// The ranks that meet at a domain: its own `ranks`, and one leader out of each of its `groups` (OSMP IV-D,
// V-C).
//
// A rank is named once, in the innermost group that holds it with company. What groups nothing is left out: a
// domain that no rank uses, a domain of one rank (the rank stands in the group around it), and a domain that
// would hold one group and nothing else; the level of the latter is noted in `outer` of that group. Ranks
// rise, and groups come in the order of their lowest rank: equal input gives equal groups on every rank.
struct Group {
  Level level = Level::machine;
  std::vector<Group> groups;
  std::vector<int> ranks;
  std::vector<Level> outer;  // larger domains that hold just the same ranks, from the inside out

  friend bool operator==(const Group&, const Group&) = default;
};

// The groups of ranks 0..n-1 bound as `affinity` says, rank by rank. A rank belongs to the smallest domain
// that holds all of its mask, so that a rank that may wander over a package stands at the package; a rank
// whose mask is empty or reaches beyond the machine stands at the machine.
Group group_ranks(const Topology& topology, std::span<const CpuSet> affinity);

// n ranks that meet at the machine and nowhere else.
Group flat_group(int n);

// Nodes in place of ranks: those whose paths of switches ("core.leaf1", from the outermost in) begin alike
// meet there. The groups count as virtual domains.
Group group_by_switches(std::span<const std::string> paths);

// OSMP VI: splits each lowest group (one without groups) that holds more than `degree` ranks into `degree`
// virtual domains of consecutive ranks; their sizes differ by at most one, the larger come first. A degree of
// 0 or 1 changes nothing; a negative one throws Error.
Group split_virtual(const Group& group, int degree);

// The groups of a sub-communicator whose rank i is rank members[i] of `group`; the result speaks of the
// former. Ranks that are no members go, and so does what then groups nothing. Throws Error when a member is
// missing or comes twice.
Group restrict(const Group& group, std::span<const int> members);

// The groups when only the given levels count: those of other levels dissolve into the group around them. The
// machine, the outermost group and virtual domains stay in any case.
Group keep_levels(const Group& group, std::span<const Level> levels);

// All ranks of the group and of the groups within, rising.
std::vector<int> members(const Group& group);

// The levels that the group stands for: its own, then `outer`.
std::vector<Level> levels_of(const Group& group);

// One line: machine(package(0 1 2 3) package(4 5 6 7) 8). Outer levels follow a slash: l3/package/machine(0
// 1).
std::string print(const Group& group);

}  // namespace espalier::topology
