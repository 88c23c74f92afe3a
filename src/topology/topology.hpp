#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/cpu_set.hpp"

namespace espalier::topology {

// The kinds of domain, from the inside out; `virtual_domain` is no piece of hardware but a part of a wide
// group (OSMP VI).
enum class Level { core, l2, l3, numa, package, machine, virtual_domain };

inline constexpr std::array all_levels = {
    Level::core, Level::l2, Level::l3, Level::numa, Level::package, Level::machine, Level::virtual_domain};
inline constexpr std::size_t level_count = all_levels.size();

// core, l2, l3, numa, package, machine, virtual.
std::string_view to_string(Level level);

// The level of that name, or nothing; `socket` is another name for package.
std::optional<Level> find_level(std::string_view name);

// As find_level, but throws Error with the names that exist.
Level parse_level(std::string_view name);

// A piece of the machine. The CPUs of its children are disjoint, lie within its own, and come in the order of
// their lowest CPU; they need not cover it. A child may have the same CPUs as its parent (a package that is
// one NUMA domain).
struct Domain {
  Level level = Level::machine;
  CpuSet cpus;
  std::vector<Domain> children;

  friend bool operator==(const Domain&, const Domain&) = default;
};

struct Topology {
  Domain machine;
  std::string source;  // where it came from, in words for the user

  friend bool operator==(const Topology&, const Topology&) = default;
};

// Nests domains given in any order, by the containment of their CPUs, under `machine`: what is equal nests by
// level, what is empty, comes twice, or lies across the border of a larger one is left out.
Domain nest(CpuSet machine, std::vector<Domain> pieces);

// The one-line form in which one process of a node hands the topology to the others, which then need no
// hwloc:
//   (machine 0-3 (package 0-1 (core 0) (core 1)) (package 2-3 (core 2) (core 3))) this machine, by
//   hwloc 2.9.0
// The rest of the line is the source.
std::string print(const Topology& topology);

// Reads what `print` wrote. Throws Error naming the column that cannot be read.
Topology parse_topology(std::string_view text);

}  // namespace espalier::topology
