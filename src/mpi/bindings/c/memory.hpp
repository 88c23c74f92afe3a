// Memory that MPI_Alloc_mem has handed out, for the Fortran bindings, which free it too.
#pragma once

namespace espalier::mpi {

/// Whether an address is in the shared heap of this process; if not, its memory is the host's to free.
bool is_of_shared_heap(const void* base);

/// Returns an MPI error code; raises the error through MPI_COMM_SELF's handler if no block in use begins at
/// `base`.
int free_shared(void* base);

}  // namespace espalier::mpi
