// Espalier's messages between nodes, carried by the host MPI.
#pragma once

#include <memory>

#include "network/transport.hpp"

namespace espalier::mpi {

/// Point-to-point messages on a private duplicate of MPI_COMM_WORLD: one for the whole job, however many
/// communicators the program makes. Collective over MPI_COMM_WORLD; nullptr, with a message on stderr, when
/// the host refuses. Must be gone before MPI_Finalize. As thread-safe as the host: every thread that is in a
/// collective calls it.
std::unique_ptr<network::Transport> open_transport();

}  // namespace espalier::mpi
