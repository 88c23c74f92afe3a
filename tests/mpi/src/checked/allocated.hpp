// Long buffers of this program from MPI_Alloc_mem.
#pragma once

/// From now on, until stop_allocating(); between MPI_Init and MPI_Finalize. Not thread-safe.
void allocate_by_mpi();
void stop_allocating();
