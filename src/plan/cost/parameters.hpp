// What a message, a flag and a byte cost on a machine: the parameters of the cost model.
#pragma once

#include <string>
#include <string_view>

namespace espalier::plan {

/// Messages, and what the rank that gets them does with them. All times in nanoseconds.
///
/// latency to per_byte are LogGP's L, o, g and G (A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman,
/// "LogGP: Incorporating Long Messages into the LogP Model", 1995, section 2): a message of b bytes is there
/// overhead + latency + b * per_byte + overhead after its sender began. HIER 3.1's t_inter is this time.
struct Wire {
  double latency = 0;        ///< of the way between sender and receiver
  double overhead = 0;       ///< CPU time of one message, at the sender and again at the receiver
  double gap = 0;            ///< at least so long between two messages of one rank
  double per_byte = 0;       ///< of a message
  double fold_per_byte = 0;  ///< to fold a byte that arrived into one that was there
  double copy_per_byte = 0;  ///< to copy a byte that arrived
  double eager_bytes = 0;    ///< a longer message is sent only when its receiver has answered ...
  double handshake = 0;      ///< ... which takes so much longer (rendezvous)
};

/// The ranks of one node among themselves. Nanoseconds.
struct NodeCosts {
  double flag = 0;           ///< from a rank's store until another rank sees it
  double copy_per_byte = 0;  ///< into or out of a slot
  double fold_per_byte = 0;  ///< of one source
  Wire messages;             ///< where node stages go by messages
};

struct CostParameters {
  std::string name;  ///< in words, for people
  std::string file;
  Wire network;
  double link_per_byte = 0;  ///< of all ranks of a node together: what bounds several leaders
  NodeCosts node;
};

/// Reads parameters. Times are nanoseconds, sizes bytes; all keys but the optional ones must be there:
///
///     {"schema": 1, "name": "in words",
///      "network": {"latency_ns", "overhead_ns", "gap_ns", "ns_per_byte",
///                  "link_ns_per_byte" (optional: as ns_per_byte),
///                  "eager_bytes", "handshake_ns" (optional, together: no message has a handshake),
///                  "reduce_ns_per_byte" (optional: as the node's)},
///      "node": {"flag_ns", "copy_ns_per_byte", "reduce_ns_per_byte", "message_ns", "message_ns_per_byte"}}
///
/// "comment", "origin" and "published" are for people and for `espalier explain`, "simulate" for
/// simulation/model/model.hpp; they are not looked at here.
/// Throws Error with file and key for text that is no JSON, a key that is missing or unknown, and a value
/// that is no number from 0 on. docs/cost-model.md says how to measure each.
CostParameters parse_cost_parameters(std::string_view text, const std::string& file);
CostParameters read_cost_parameters(const std::string& path);

}  // namespace espalier::plan
