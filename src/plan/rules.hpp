// The rules table: which call gets which plan. JSON, first match wins.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "plan/plan.hpp"

namespace espalier::plan {

/// What a rule may ask about a call; equal on all ranks.
struct Query {
  Collective collective = Collective::barrier;
  std::size_t bytes = 0;  ///< a rank's message
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;
  double ranks_per_core = 1;  ///< runnable ranks of the node for each usable core
  bool commutative = true;
  bool prompt_yields = true;  ///< a yield makes room for any other rank of the node at once
  bool single_copy = true;    ///< Requirement::single_copy
  bool shared_heaps =
      true;            ///< ranks can map each other's MPI_Alloc_mem memory; else nothing is exposed there
  bool sharp = false;  ///< Requirement::aggregation_nodes
  bool consecutive = true;  ///< Requirement::consecutive_ranks
  int trial = 0;            ///< Table::trial()
};

/// A closed range; without an upper end when `last` is infinite.
struct Range {
  double first = 0;
  double last = std::numeric_limits<double>::infinity();
  bool holds(double value) const { return first <= value && value <= last; }
};

struct Rule {
  std::vector<Collective> collectives;  ///< none: all
  Range bytes, ranks, nodes, ranks_per_node, ranks_per_core;
  std::optional<bool> prompt_yields;  ///< none: either
  std::optional<int> trial;           ///< none: any
  bool between_nodes = false;         ///< says `network`, not `plan`
  Plan plan;
  NetworkPlan network;

  bool matches(const Query& query) const;

  Scope scope() const { return between_nodes ? Scope::network : Scope::node; }
  Algorithm algorithm() const { return between_nodes ? network.algorithm : plan.algorithm; }
};

/// Whether what the algorithm requires is there.
bool is_possible(Scope scope, Algorithm algorithm, const Query& query);

/// Reads a table. Throws Error with file and line for text that is no JSON or has values out of place; keys
/// that no rule knows are left out and named, with their line, in `warnings`.
///
///     {"schema": 1, "rules": [
///       {"collective": "allreduce", "bytes": [0, 112], "ranks": [2, 8], "ranks_per_core": [0, 1],
///       "algorithm": "exchange"},
///       {"collective": ["bcast", "reduce"], "algorithm": "tree", "chunk": "32KiB", "gather_tree":
///       "knomial:4"}]}
///
/// Conditions: collective, bytes, ranks, nodes, ranks_per_node, ranks_per_core (a number, or [first, last]
/// with null for no end; bytes always per rank), prompt_yields (true or false), trial (a number; for measuring). Results: algorithm, chunk,
/// zero_copy, or_slots, tree, gather_tree, release_tree, inline, read_from_parent, skip_gather,
/// copy_avoidance. "comment" is ignored; "evidence" is what `espalier explain` says of the rule. A rule with "network" instead of "algorithm" is about what happens
/// between nodes; its other results are segment, leaders (a number or "all") and tree.
std::vector<Rule> parse_rules(std::string_view text, const std::string& file,
                              std::vector<std::string>& warnings);
std::vector<Rule> read_rules(const std::string& path, std::vector<std::string>& warnings);

/// The table that comes with Espalier (src/plan/default_rules.json).
const std::vector<Rule>& default_rules();

}  // namespace espalier::plan
