// Drives the host's progress while a rank waits inside Espalier.
#pragma once

#include "mpi/abi.hpp"

namespace espalier::mpi::progress {

/// Makes a private communicator of this process alone, from MPI_COMM_SELF or from a communicator that it
/// belongs to (sessions have no MPI_COMM_SELF), and tells the runtime to probe it. Returns false if the host
/// cannot.
bool open(MPI_Comm from);
void close();

}  // namespace espalier::mpi::progress
