// How often a rank of this process looks at its messages in vain before it timed sleeps.
#pragma once

#include "network/spin_limits.hpp"

namespace espalier::runtime {

/// By ESPALIER_WAIT, and where that leaves it to us by how many ranks share a core. `over_nodes`: a look
/// costs a system call or two, and the answer takes microseconds; at memory it costs nothing.
network::SpinLimits spin_limits_for(double ranks_per_core, bool over_nodes);

}  // namespace espalier::runtime
