// Which nonblocking collectives are left to the host because it was measured to be faster
// (docs/nonblocking.md).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/collective.hpp"

namespace espalier::plan {

/// Whether ESPALIER_NONBLOCKING has switched them off.
bool nonblocking_is_off();

/// Whether the host's call is measured to be the faster one, on one node. What it follows from is the same on
/// all ranks. Without rules where ESPALIER_NONBLOCKING is on; the host is set_host()'s. Thread-safe.
bool nonblocking_is_hosts(Collective collective, std::size_t bytes, int ranks);

/// The same over nodes, where a rank sends what its node gives to every rank of the others: many of them, and long data,
/// are better passed on. `host`: its version text. `on_node`: ranks of the largest node.
bool nonblocking_over_nodes_is_hosts(std::string_view host, Collective collective, std::size_t bytes,
                                     int ranks, int on_node);

/// The same for a host of that version text.
bool nonblocking_is_hosts(std::string_view host, Collective collective, std::size_t bytes, int ranks);

}  // namespace espalier::plan
