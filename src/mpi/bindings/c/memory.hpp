// What MPI_Alloc_mem has handed out, for other ways to give it back.
#pragma once

namespace espalier::mpi {

bool is_of_shared_heap(const void* base);

/// Returns MPI's code; raises an error through MPI_COMM_SELF's handler where nothing that is in use begins
/// there.
int free_shared(void* base);

}  // namespace espalier::mpi
