// When Espalier begins and ends in a process: MPI_Init, MPI_Finalize, sessions.
#pragma once

#include "mpi/abi/abi.hpp"

namespace espalier::mpi::lifecycle {

/// MPI_Init has returned: the ranks of the job meet. Collective over MPI_COMM_WORLD, as MPI_Init is.
void begin_world();
/// MPI_Finalize is about to be called. In it Espalier ends: it prints its statistics and gives everything
/// back. It does so in the last of the delete callbacks of MPI_COMM_SELF, with which MPI_Finalize begins,
/// because those of the program may still use all that the program has, persistent requests included.
/// Collective, as MPI_Finalize is.
void finalize_begins();

/// MPI_Abort is about to be called: what is to be known of this rank is written.
void abort_begins();

/// A session was opened; or is about to be closed. With the last one Espalier ends in the process.
void begin_session();
void end_session();

/// May Espalier serve a collective on this communicator now? Sets itself up when MPI was initialised by
/// sessions, or by a way that was not intercepted. Thread-safe.
bool ready(MPI_Comm comm);

/// What is called for objects that may live longer than their communicator, or must be freed before the host
/// ends: persistent requests.
struct Dependents {
  void (*communicator_is_freed)(MPI_Comm comm);  ///< is about to be freed
  void (*job_ends)();                            ///< communicators and the host still exist
};
/// From now on `dependents` are called. Called when the first such object is made; a second call changes
/// nothing.
void tell(const Dependents& dependents);
void tell_communicator_is_freed(MPI_Comm comm);

}  // namespace espalier::mpi::lifecycle
