// Espalier's messages between nodes, carried by the host MPI.
#pragma once

#include <memory>

#include "network/transport.hpp"

namespace espalier::mpi {

/// Point-to-point messages on a private duplicate of MPI_COMM_WORLD: one for the whole job, however many
/// communicators the program makes. Collective over MPI_COMM_WORLD; nullptr, with a word on stderr, when the
/// host refuses. Must be gone before MPI_Finalize. As thread-safe as the host: its calls come from whichever
/// threads are in a collective.
std::unique_ptr<network::Transport> open_transport();

}  // namespace espalier::mpi
