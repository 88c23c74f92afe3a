// Every algorithm: its name, the collectives that it serves on a node and between nodes, what it needs, and
// its source. Rules, cost model, `espalier explain` and documentation all use this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/collective.hpp"

namespace espalier::plan {

enum class Algorithm : unsigned char {
  host,
  exchange,
  central,
  tree,
  grouped,
  sliced,
  direct,
  single_copy,
  dissemination,
  recursive_doubling,
  rabenseifner,
  ring,
  gather_all,
  scatter_allgather,
  chain,
  transpose,
  allreduce,
  sharp,
  notified_ring,
  notified_dissemination,
};

/// In the order of Algorithm.
inline constexpr std::array<std::string_view, 20> algorithm_names = {
    "host",          "exchange",
    "central",       "tree",
    "grouped",       "sliced",
    "direct",        "single-copy",
    "dissemination", "recursive-doubling",
    "rabenseifner",  "ring",
    "gather-all",    "scatter-allgather",
    "chain",         "transpose",
    "allreduce",     "sharp",
    "notified-ring", "notified-dissemination"};
static_assert(static_cast<std::size_t>(Algorithm::notified_dissemination) + 1 == algorithm_names.size());

constexpr std::string_view to_string(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

/// Whether a plan between nodes wants a window of notified puts, and what it is by messages.
constexpr bool goes_through_window(Algorithm algorithm) {
  return algorithm == Algorithm::notified_ring || algorithm == Algorithm::notified_dissemination;
}
constexpr Algorithm by_messages(Algorithm algorithm) {
  if (algorithm == Algorithm::notified_ring) return Algorithm::ring;
  return algorithm == Algorithm::notified_dissemination ? Algorithm::dissemination : algorithm;
}

constexpr std::optional<Algorithm> parse_algorithm(std::string_view name) {
  for (std::size_t i = 0; i < algorithm_names.size(); ++i)
    if (algorithm_names[i] == name) return static_cast<Algorithm>(i);
  return std::nullopt;
}

/// A set of collectives, as a bit mask.
class CollectiveSet {
 public:
  template <class... Collectives>
  constexpr explicit CollectiveSet(Collectives... collectives)
      : bits_((0u | ... | (1u << static_cast<unsigned>(collectives)))) {}
  constexpr bool contains(Collective collective) const {
    return (bits_ >> static_cast<unsigned>(collective) & 1u) != 0;
  }

 private:
  static_assert(collective_count <= 32);
  std::uint32_t bits_;
};

enum class Scope : std::uint8_t { node, network };

/// What an algorithm needs. Where it does not hold, rules that name the algorithm do not match.
enum class Requirement : std::uint8_t {
  nothing,
  single_copy,        ///< ranks may read each other's memory
  aggregation_nodes,  ///< the job has some
  consecutive_ranks,  ///< each node's ranks follow on each other (HIER 3.5)
};

/// An algorithm as some collectives use it.
struct AlgorithmUse {
  Scope scope;
  CollectiveSet collectives;
  Algorithm algorithm;
  Requirement requirement;
  std::string_view description;
  std::string_view source;  ///< paper and section; empty: in common use
};

/// All uses but those of `host`, which every collective has in both scopes.
inline constexpr std::array algorithm_uses = [] {
  using enum Collective;
  using A = Algorithm;
  using enum Requirement;
  constexpr Scope node = Scope::node, network = Scope::network;
  constexpr CollectiveSet to_all(allgather, allgatherv, alltoall, alltoallv);
  constexpr CollectiveSet from_or_to_root(gather, gatherv, scatter, scatterv);
  constexpr CollectiveSet reduce_scatters(reduce_scatter_block, reduce_scatter);
  constexpr CollectiveSet scans(scan, exscan);
  constexpr CollectiveSet allgathers(allgather, allgatherv);
  constexpr CollectiveSet in_pieces(alltoallw, neighbor_allgather, neighbor_allgatherv, neighbor_alltoall,
                                    neighbor_alltoallv, neighbor_alltoallw);
  return std::array{
      AlgorithmUse{node, CollectiveSet(barrier), A::exchange, nothing,
                   "every rank reads the flags of all others", ""},
      AlgorithmUse{node, CollectiveSet(barrier), A::central, nothing,
                   "one arrival counter; the last rank to arrive releases all", ""},
      AlgorithmUse{node, CollectiveSet(barrier), A::tree, nothing, "gather, then release along trees",
                   "RG II-B"},
      AlgorithmUse{node, CollectiveSet(bcast), A::tree, nothing,
                   "the root copies in, flags run down the tree, every rank copies out of the root's slot",
                   "RG II-C, III-C"},
      AlgorithmUse{node, CollectiveSet(bcast), A::single_copy, single_copy,
                   "readers read straight from the root's buffer, through the kernel", ""},
      AlgorithmUse{node, CollectiveSet(reduce), A::tree, nothing,
                   "every rank reduces its children's slots into its own", "RG II-D, III-E"},
      AlgorithmUse{node, CollectiveSet(Collective::allreduce), A::exchange, nothing,
                   "every rank publishes its vector and reduces all others' itself", ""},
      AlgorithmUse{node, CollectiveSet(Collective::allreduce), A::central, nothing,
                   "one arrival counter; the last rank to arrive reduces for all", ""},
      AlgorithmUse{node, CollectiveSet(Collective::allreduce), A::tree, nothing,
                   "a reduce whose result is released while the next chunk is gathered", "RG II-E, III-C"},
      AlgorithmUse{node, CollectiveSet(Collective::allreduce), A::sliced, nothing,
                   "every rank reduces its slice straight from all slots, then all copy", ""},
      AlgorithmUse{node, to_all, A::exchange, nothing,
                   "every rank publishes its blocks and reads those for it", ""},
      AlgorithmUse{node, to_all, A::central, nothing,
                   "the same, where one arrival counter says that all blocks are there", ""},
      AlgorithmUse{node, to_all, A::single_copy, single_copy,
                   "blocks longer than a chunk are read straight from their owner's buffer", ""},
      AlgorithmUse{node, in_pieces, A::exchange, nothing,
                   "every rank packs what it has for each other into its slots, each unpacks what is for it",
                   ""},
      AlgorithmUse{node, in_pieces, A::central, nothing,
                   "the same, where one arrival counter says that all is there", ""},
      AlgorithmUse{node, in_pieces, A::single_copy, single_copy,
                   "dense data longer than a chunk are read straight from their owner's buffer", ""},
      AlgorithmUse{node, allgathers, A::tree, nothing,
                   "blocks go up packed, every rank copies all of them out of the root's slot",
                   "RG II-B, II-C"},
      AlgorithmUse{node, allgathers, A::grouped, nothing,
                   "one rank of each group collects its blocks, all copy them out of the groups' slots", ""},
      AlgorithmUse{node, CollectiveSet(alltoall), A::grouped, nothing,
                   "ranks of a group collect its blocks for those of all groups, which fetch them there", ""},
      AlgorithmUse{node, reduce_scatters, A::exchange, nothing,
                   "every rank reduces its block straight from all others' slots", ""},
      AlgorithmUse{node, reduce_scatters, A::central, nothing,
                   "the same, where one arrival counter says that all vectors are there", ""},
      AlgorithmUse{node, reduce_scatters, A::grouped, nothing,
                   "blocks of one length go as in alltoall, every rank reduces those for it", ""},
      AlgorithmUse{node, from_or_to_root, A::direct, nothing,
                   "the rank that wants data reads it from the slots of the rank that has it", ""},
      AlgorithmUse{node, from_or_to_root, A::single_copy, single_copy,
                   "blocks longer than a chunk are read straight from their owner's buffer", ""},
      AlgorithmUse{node, scans, A::exchange, nothing, "every rank reduces the vectors of the ranks below it",
                   ""},
      AlgorithmUse{node, scans, A::central, nothing,
                   "the same, where one arrival counter says that all vectors are there", ""},
      AlgorithmUse{node, scans, A::tree, nothing,
                   "vectors go up packed, the root folds them in rank order, every rank copies its result",
                   ""},
      AlgorithmUse{node, scans, A::chain, nothing,
                   "every rank reduces its vector onto that of the rank below, chunk by chunk", ""},
      AlgorithmUse{node, scans, A::sliced, nothing, "every rank scans one slice for all ranks, then all copy",
                   ""},

      AlgorithmUse{network, CollectiveSet(barrier), A::dissemination, nothing,
                   "every leader hears from all others in ceil(log4 nodes) rounds, in one up to 7 nodes",
                   "HIER 3.4"},
      AlgorithmUse{network, CollectiveSet(barrier), A::tree, nothing,
                   "up and down a tree of leaders: more rounds, fewer messages", ""},
      AlgorithmUse{network, CollectiveSet(bcast), A::tree, nothing, "each segment down a tree of nodes",
                   "HIER 3.1"},
      AlgorithmUse{network, CollectiveSet(bcast), A::scatter_allgather, nothing,
                   "each segment scattered by the root, collected around a ring",
                   "Thakur, Rabenseifner, Gropp 2005, 4.2"},
      AlgorithmUse{network, CollectiveSet(reduce), A::tree, nothing, "each segment up a tree of nodes",
                   "HIER 3.2"},
      AlgorithmUse{network, CollectiveSet(reduce), A::rabenseifner, nothing,
                   "reduce-scatter by halving, gather to the root", "Thakur, Rabenseifner, Gropp 2005, 4.4"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::tree, nothing,
                   "up a tree of nodes and down again", "HIER 3.3"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::recursive_doubling, nothing,
                   "leaders exchange vectors with partners at doubling distances: short vectors",
                   "Thakur, Rabenseifner, Gropp 2005, 4.5"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::rabenseifner, nothing,
                   "reduce-scatter by halving, allgather by doubling: long vectors",
                   "Thakur, Rabenseifner, Gropp 2005, 4.5"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::ring, nothing,
                   "reduce-scatter and allgather from neighbour to neighbour: the longest vectors",
                   "Patarasuk, Yuan 2009"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::notified_ring, nothing,
                   "the ring through a window, in blocks, by all ranks of a node", "NOTIFY III"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::dissemination, nothing,
                   "partial reductions at doubling distances: no power of two needed", "NOTIFY III"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::notified_dissemination, nothing,
                   "the same through a window, a slice by each of some ranks of a node", "NOTIFY III"},
      AlgorithmUse{network, CollectiveSet(Collective::allreduce), A::gather_all, nothing,
                   "all vectors to all leaders, folded in rank order", "Bruck et al. 1997"},
      AlgorithmUse{network, CollectiveSet(barrier, reduce, Collective::allreduce), A::sharp,
                   aggregation_nodes, "aggregation nodes inside the network", "SHARP"},
      AlgorithmUse{network, allgathers, A::dissemination, nothing,
                   "all parts to all nodes in ceil(log4 nodes) rounds: short blocks", "Bruck et al. 1997"},
      AlgorithmUse{network, allgathers, A::ring, nothing,
                   "blocks around a ring, shared by several ranks of a node", "NOTIFY II"},
      AlgorithmUse{network, allgathers, A::notified_ring, nothing, "the ring through a window",
                   "NOTIFY II-A, algorithm 1"},
      AlgorithmUse{network, from_or_to_root, A::direct, nothing,
                   "between the root and each node's leader in one message; long blocks to their rank", ""},
      AlgorithmUse{network, CollectiveSet(alltoall, alltoallv), A::direct, nothing,
                   "every rank talks to one rank of each other node; long blocks to their rank", "NOTIFY V"},
      AlgorithmUse{network, reduce_scatters, A::allreduce, nothing,
                   "an allreduce, of which every rank keeps its block: short vectors", ""},
      AlgorithmUse{network, reduce_scatters, A::transpose, nothing,
                   "each rank folds on its node what goes to its counterparts, they fold the nodes' parts",
                   ""},
      AlgorithmUse{network, scans, A::recursive_doubling, consecutive_ranks,
                   "the nodes' totals are scanned at doubling distances", "HIER 3.5"},
      AlgorithmUse{network, scans, A::chain, consecutive_ranks,
                   "the nodes' totals are scanned from node to node", "HIER 3.5"},
      AlgorithmUse{network, scans, A::gather_all, nothing,
                   "leaders exchange all vectors (or their nodes' totals) and fold in rank order",
                   "Bruck et al. 1997"},
      AlgorithmUse{network, scans, A::transpose, nothing,
                   "each leader scans one slice of all vectors: ranks in any order, long vectors", ""},
  };
}();

/// Whether a node's algorithm brings all operands of an element to the kernel in one call, in rank order. (Of a
/// reduce where the tree is flat.) True of collectives that do not reduce.
constexpr bool folds_at_once(Collective collective, Algorithm algorithm) {
  switch (collective) {
    case Collective::allreduce:
      return algorithm == Algorithm::exchange || algorithm == Algorithm::central ||
             algorithm == Algorithm::sliced;
    case Collective::scan:
    case Collective::exscan:
      return algorithm == Algorithm::exchange || algorithm == Algorithm::central;
    case Collective::reduce:
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return algorithm != Algorithm::host;
    default:
      return true;
  }
}

/// nullptr: the collective has no such algorithm in that scope, or the algorithm is `host`.
const AlgorithmUse* find_use(Scope scope, Collective collective, Algorithm algorithm);

/// The algorithms of a collective, `host` first.
std::vector<Algorithm> algorithms_of(Scope scope, Collective collective);

bool has_algorithm(Scope scope, Collective collective, Algorithm algorithm);

/// `nothing` where the collective has no such algorithm in that scope.
Requirement requirement_of(Scope scope, Collective collective, Algorithm algorithm);

/// Whether a scan over nodes scans the nodes' totals, and each node then folds that into its own scan.
constexpr bool scans_totals(Algorithm algorithm, bool consecutive) {
  return consecutive && algorithm != Algorithm::transpose;
}

}  // namespace espalier::plan
