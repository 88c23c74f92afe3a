// What everything costs on a simulated machine. Each parameter has a unit in its name; where its value comes
// from stands in the file ("origin").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/cost/parameters.hpp"

namespace espalier::simulation {

/// How far apart two cores of a node are: a domain that holds both and no smaller one does.
struct CoreLevel {
  std::string name;             ///< "l3", "numa", "package", "machine"
  int cores = 1;                ///< in one such domain
  double line_ns = 0;           ///< from a core's store until another, which polls that line, has it
  double copy_ns_per_byte = 0;  ///< to copy data that another core there has written
};

struct NodeModel {
  std::vector<CoreLevel> levels;  ///< from the innermost; the last holds all cores
  /// Of line_ns, what the store takes that claims the line from those who have it; the rest is the read.
  double claim_part = 0.5;
  double reads_under_way = 1;         ///< lines that a core reads at a time where no read waits for another
  double stores_under_way = 1;        ///< and lines that it claims
  double reader_gap_ns = 0;           ///< another reader of the same line waits so much longer
  double own_copy_ns_per_byte = 0;    ///< to copy what this core has in its cache
  double reduce_ns_per_byte = 0;      ///< to fold a byte of one source
  double controller_ns_per_byte = 0;  ///< of all cores that share a memory controller, together
  int controller_cores = 1;           ///< how many those are
  plan::Wire messages;                ///< between ranks of the node: latency and per_byte
  double wake_ns = 0;                 ///< where ranks exceed cores: to switch a core to another rank

  int cores() const { return levels.back().cores; }
  double claim_ns(const CoreLevel& level) const { return claim_part * level.line_ns; }
  double read_ns(const CoreLevel& level) const { return (1 - claim_part) * level.line_ns; }
};

/// Switches that a message passes besides the first: nodes that one of them connects, and what it adds.
struct SwitchLevel {
  int nodes = 1;
  double latency_ns = 0;
};

struct NetworkModel {
  plan::Wire wire;                    ///< LogGP; see parameters.hpp
  double link_ns_per_byte = 0;        ///< of one network card
  int cards = 1;                      ///< of a node; its ranks take turns between them
  std::vector<SwitchLevel> switches;  ///< from the innermost; a fat tree's or a dragonfly's levels
};

/// Aggregation nodes in a tree over the nodes (SHARP II-A).
struct AggregationModel {
  int radix = 0;            ///< children of each; 0: there are none
  double overhead_ns = 0;   ///< CPU time to post, and again to take the result
  double hop_ns = 0;        ///< from a child to its aggregation node, the aggregation included
  double down_hop_ns = 0;   ///< the way back, a hop
  int payload_bytes = 256;  ///< of one operation; longer vectors take several
  int outstanding = 1;      ///< operations of a job under way at once (its quota)
  double ns_per_byte = 0;   ///< of a hop
};

/// What disturbs ranks.
struct NoiseModel {
  double rate_hz = 0;      ///< interruptions of each core
  double duration_ns = 0;  ///< of each
  double skew_ns = 0;      ///< ranks begin a call within this time, uniformly
};

struct Model {
  std::string name, file;
  NetworkModel network;
  NodeModel node;
  AggregationModel aggregation;
  NoiseModel noise;
};

/// Reads a parameter file of the cost model (plan/cost/parameters.hpp) and its part "simulate":
///
///     "simulate": {"levels": [{"name", "cores", "line_ns", "copy_ns_per_byte"}...],
///                  "claim_part", "reads_under_way", "stores_under_way",
///                  "reader_gap_ns", "own_copy_ns_per_byte", "controller_ns_per_byte", "controller_cores",
///                  "wake_ns", "cards", "switches": [{"nodes", "latency_ns"}...], "aggregation": {"radix",
///                  "overhead_ns", "hop_ns", "down_hop_ns", "payload_bytes", "outstanding",
///                                  "ns_per_byte"},
///                  "noise": {"rate_hz", "duration_ns", "skew_ns"}}
///
/// of which "levels" is needed and all else is 0, or none, when it is not there ("claim_part" 0.5,
/// "reads_under_way" and "stores_under_way" 1). Network, messages within
/// a node and the cost of folding come from the cost model's part. Throws Error with file and key.
Model parse_model(std::string_view text, const std::string& file);
Model read_model(const std::string& path);

}  // namespace espalier::simulation
