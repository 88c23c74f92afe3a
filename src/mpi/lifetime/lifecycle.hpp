// When Espalier comes into a process and when it leaves: MPI_Init, MPI_Finalize, sessions.
#pragma once

#include "mpi/abi/abi.hpp"

namespace espalier::mpi::lifecycle {

/// MPI_Init has returned: the ranks of the job meet. Collective over MPI_COMM_WORLD, as MPI_Init is.
void begin_world();
/// MPI_Finalize is about to be called. Espalier leaves in it: statistics, then everything is given back. That
/// is the last of the delete callbacks of MPI_COMM_SELF, with which MPI_Finalize begins: those of the program
/// may still use all that the program has, requests of persistent collectives among it. Collective like it.
void finalize_begins();

/// A session was opened; or is about to be closed. With the last one Espalier leaves.
void begin_session();
void end_session();

/// May Espalier serve a collective on this communicator now? Sets itself up when MPI was initialised by
/// sessions, or by a way that was not intercepted. Thread-safe.
bool ready(MPI_Comm comm);

/// MPI_COMM_WORLD exists: MPI was not initialised by sessions alone. Thread-safe.
bool has_world();

}  // namespace espalier::mpi::lifecycle
