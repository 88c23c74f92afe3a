// A communicator as the bootstrap of something else.
#pragma once

#include "runtime/communicator/communicator.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// The ranks of `communicator`, which must outlive it, exchanging data by its own collectives. Throws Error
/// where a rule leaves those to a host.
Bootstrap bootstrap_of(Communicator& communicator);

}  // namespace espalier::runtime
