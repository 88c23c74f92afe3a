// Agreements of communicators whose ranks are on several nodes.
#pragma once

#include <vector>

#include "runtime/setup/agreement.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {

/// Collective over the communicator. Every node that can shares memory among its ranks; the others are left
/// with messages. Refuses only for want of a transport or of tags,
/// and where several jobs meet.
Agreement agree_over_nodes(const Bootstrap& bootstrap, const std::vector<Eligibility>& eligibilities);

}  // namespace espalier::runtime
