// Drives the host's progress while a rank waits inside Espalier.
#pragma once

namespace espalier::mpi::progress {

/// Starts a request that never completes by itself and tells the runtime to test it: a test of an incomplete
/// request runs every host's progress engine (a probe does not where it sees that no other rank could send),
/// and it needs no communicator, so it serves sessions too. Returns false if the host cannot.
bool open();
void close();

/// Lets the host take what other ranks have sent before a collective that has been served. Rarely more than
/// one message is waiting, but a call of MPICH's progress takes one of them at a time: it is called a few
/// times, and more often where there is time for it.
void catch_up();

}  // namespace espalier::mpi::progress
