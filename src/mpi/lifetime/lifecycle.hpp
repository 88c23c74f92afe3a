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

/// What lives longer than a communicator, or must go before the host ends: persistent requests.
struct Dependents {
  void (*communicator_is_freed)(MPI_Comm comm);  ///< about to be
  void (*job_ends)();                            ///< while communicators and the host are still there
};
/// From now on they are told. Called by what makes the first of them; a second call changes nothing.
void tell(const Dependents& dependents);
void tell_communicator_is_freed(MPI_Comm comm);

}  // namespace espalier::mpi::lifecycle
