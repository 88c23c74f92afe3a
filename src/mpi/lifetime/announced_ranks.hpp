// Whether the launcher has started more ranks than MPI_COMM_WORLD has, as the environment says.
#pragma once

namespace espalier::mpi {

/// To be called if MPI_COMM_WORLD has one rank. Prints one line, in one process of the job, if the launcher
/// has started more: then it belongs to another MPI than the program, and each process computes by itself.
void warn_if_launched_apart();

}  // namespace espalier::mpi
