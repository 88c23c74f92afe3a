// Nonblocking collectives over nodes.
#pragma once

#include <memory>
#include <string>

#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::nonblocking {

/// What serves the draft's call over nodes, not started; local. Null, on all ranks alike: it is the host's, and `why`
/// says why; empty: there is no reason to report.
std::unique_ptr<runtime::SeparateCall> begin_across(const Entry& entry, persistent::Draft& draft,
                                                    std::string& why);

}  // namespace espalier::mpi::nonblocking
