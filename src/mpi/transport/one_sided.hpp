// Espalier's windows by the host's one-sided calls.
#pragma once

#include <memory>

#include "network/window/one_sided.hpp"

namespace espalier::mpi {

/// Local, and cheap: nothing is opened before a window wants it. Its windows must be closed before
/// MPI_Finalize.
std::unique_ptr<network::OneSidedHost> open_one_sided();

}  // namespace espalier::mpi
