// Which nonblocking collectives over nodes are left to the host because it was measured to be faster
// (docs/nonblocking.md).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/collective.hpp"

namespace espalier::plan {

/// Whether ESPALIER_NONBLOCKING has switched them off.
bool nonblocking_is_off();

/// How a call goes over nodes.
struct OverNodes {
  int ranks;
  int nodes;
  int on_node;    ///< ranks of the largest node
  bool by_nodes;  ///< a node sends for all of its ranks; else each rank sends for itself
  bool by_user;   ///< a reduction by an operator of the user
};

/// Whether the host's call is measured to be the faster one, or Espalier cannot do it: with ESPALIER_NONBLOCKING on, that
/// alone. All ranks get the same answer. `host`: its version text. Thread-safe.
bool nonblocking_over_nodes_is_hosts(std::string_view host, Collective collective, std::size_t bytes,
                                     const OverNodes& over_nodes);

/// Whether that holds for all calls of so many ranks.
bool nonblocking_over_nodes_is_always_hosts(std::string_view host, int ranks);

}  // namespace espalier::plan
