// The host MPI as a GASPI program needs it: begun and ended, whichever MPI it is.
#pragma once

namespace espalier::capi::gaspi {

/// Whether an MPI launcher started this process, or the program has an MPI loaded.
bool mpi_is_there();
/// MPI_Init, unless it has been called. Throws Failure: MPI is finalized, or no library is found.
void begin_mpi();
/// MPI_Finalize, if begin_mpi() has begun it and the program has not ended it.
void end_mpi();

}  // namespace espalier::capi::gaspi
