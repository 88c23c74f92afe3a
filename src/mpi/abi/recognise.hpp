// Which ABI the host MPI has, whatever this build's is.
#pragma once

namespace espalier::mpi::abi {

/// As in the name of the library that serves it. Works before MPI_Init.
const char* of_host();

}  // namespace espalier::mpi::abi
