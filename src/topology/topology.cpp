#include "topology/topology.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::topology {

namespace {

constexpr std::array<std::string_view, level_count> names = {"core",    "l2",      "l3",     "numa",
                                                             "package", "machine", "virtual"};

// Puts `piece` where it belongs below `parent`. Larger pieces have been placed before.
void place(Domain& parent, Domain piece) {
  for (Domain& child : parent.children) {
    if (!child.cpus.intersects(piece.cpus)) continue;
    bool twice = child.level == piece.level && child.cpus == piece.cpus;
    if (!twice && child.cpus.contains(piece.cpus)) place(child, std::move(piece));
    return;
  }
  auto by_first_cpu = [](const Domain& a, const Domain& b) { return a.cpus.first() < b.cpus.first(); };
  auto where = std::upper_bound(parent.children.begin(), parent.children.end(), piece, by_first_cpu);
  parent.children.insert(where, std::move(piece));
}

// Memory that no package has of its own (all interleaved, or a description that names no NUMA domains) is one
// NUMA domain around all packages. It is the machine by another name, and would only take the machine's place
// in a tree's text.
bool renames_machine(const Domain& piece, const CpuSet& machine, const std::vector<Domain>& pieces) {
  return piece.cpus == machine && std::any_of(pieces.begin(), pieces.end(), [&](const Domain& other) {
           return other.level > piece.level && other.cpus != machine;
         });
}

}  // namespace

std::string_view to_string(Level level) { return names[static_cast<std::size_t>(level)]; }

std::optional<Level> find_level(std::string_view name) {
  if (name == "socket") return Level::package;
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Level>(found - names.begin());
}

Level parse_level(std::string_view name) {
  if (auto level = find_level(name)) return *level;
  std::string known;
  for (std::string_view other : names) known.append(known.empty() ? "" : ", ").append(other);
  throw Error(
      formatted("\"{}\" is not a level; the levels are {} (and socket, which is package)", name, known));
}

Domain nest(CpuSet machine, std::vector<Domain> pieces) {
  Domain root{Level::machine, std::move(machine), {}};
  std::stable_sort(pieces.begin(), pieces.end(), [](const Domain& a, const Domain& b) {
    int of_a = a.cpus.count(), of_b = b.cpus.count();
    return of_a != of_b ? of_a > of_b : a.level > b.level;
  });
  for (const Domain& piece : pieces) {
    bool belongs = !piece.cpus.empty() && root.cpus.contains(piece.cpus);
    if (belongs && !renames_machine(piece, root.cpus, pieces)) place(root, piece);
  }
  return root;
}

}  // namespace espalier::topology
