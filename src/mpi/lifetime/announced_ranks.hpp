// What the launcher says of the job in its environment: more ranks than MPI_COMM_WORLD has?
#pragma once

namespace espalier::mpi {

/// MPI_COMM_WORLD has one rank. Prints one line, in one process of the job, if the launcher has started more:
/// then the launcher belongs to another MPI than the program, and each process computes by itself.
void warn_if_launched_apart();

}  // namespace espalier::mpi
