// Drives the host's progress while a rank waits inside Espalier.
#pragma once

namespace espalier::mpi::progress {

/// Starts a request that never completes by itself and tells the runtime to test it: a test of an incomplete request runs
/// every host's progress engine (a probe does not where it sees that nobody else could send), and it needs no
/// communicator, so it serves sessions too. Returns false if the host cannot.
bool open();
void close();

}  // namespace espalier::mpi::progress
